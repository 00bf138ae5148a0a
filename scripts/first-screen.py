#!/usr/bin/env python3
"""Renders the first screen of README.md, much as a forge shows it, to docs/pictures/readme.png.

Needs the Python packages markdown and pygments, and chromium on the path.
"""

import subprocess
import tempfile
from pathlib import Path

import markdown

CSS = """
body { font: 16px/1.5 "Liberation Sans", Arial, sans-serif; color: #1f2328; background: #fff;
  max-width: 960px; margin: 24px auto; padding: 0 20px }
h1, h2 { border-bottom: 1px solid #d1d9e0; padding-bottom: .3em }
pre { background: #f6f8fa !important; padding: 14px; border-radius: 6px; font-size: 13.6px }
code { background: #eff1f3; padding: .15em .35em; border-radius: 5px; font-size: 85% }
pre code { background: none; padding: 0; font-size: inherit }
.codehilite { background: none !important }
img { max-width: 100% }
a { color: #0969da; text-decoration: none }
"""


def main() -> None:
    root = Path(__file__).resolve().parent.parent
    body = markdown.markdown(
        (root / "README.md").read_text(),
        extensions=["fenced_code", "tables", "sane_lists", "codehilite"],
        extension_configs={"codehilite": {"noclasses": True, "guess_lang": False}},
    )
    head = f'<meta charset="utf-8"><base href="{root.as_uri()}/"><style>{CSS}</style>'
    picture = root / "docs/pictures/readme.png"
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "readme.html"
        page.write_text(head + body)
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1000,1300"]
        command = ["chromium", *options, f"--screenshot={picture}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
