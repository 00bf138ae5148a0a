complete -c nqueens -n '__fish_seen_subcommand_from count table list compare estimate shard' -f
complete -c nqueens -n '__fish_seen_subcommand_from completions' -f -a 'bash fish zsh'
complete -c nqueens -n '__fish_seen_subcommand_from man' -f -a 'COMMANDS'
complete -c nqueens -n '__fish_seen_subcommand_from compare' -l engines -r -f \
  -a '(commandline -ct | string match -r "[^=]*,"){NAMES}'
