/* The textbook program that speeds are compared with: bitmask recursion, halved by mirroring.
 *
 *   gcc -O3 -march=native -o textbook scripts/textbook.c && ./textbook 16
 *
 * Only first-row queens of the left half are tried; the rest are their mirror images. On odd
 * boards the middle column is its own image. Prints the number of solutions. n = 1..32.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t board;

static uint64_t fill(uint32_t columns, uint32_t falling, uint32_t rising)
{
    if (columns == board)
        return 1;
    uint64_t solutions = 0;
    uint32_t free_squares = board & ~(columns | falling | rising);
    while (free_squares) {
        uint32_t queen = free_squares & -free_squares;
        free_squares ^= queen;
        solutions += fill(columns | queen, (falling | queen) << 1, (rising | queen) >> 1);
    }
    return solutions;
}

int main(int argc, char **argv)
{
    int n = argc == 2 ? atoi(argv[1]) : 0;
    if (n < 1 || n > 32) {
        fprintf(stderr, "usage: %s N    (1 to 32)\n", argv[0]);
        return 2;
    }
    board = UINT32_MAX >> (32 - n);
    uint64_t solutions = 0;
    for (int column = 0; column < (n + 1) / 2; column++) {
        uint32_t queen = UINT32_C(1) << column;
        uint64_t below = fill(queen, queen << 1, queen >> 1);
        solutions += column < n / 2 ? 2 * below : below;
    }
    printf("%" PRIu64 "\n", solutions);
    return 0;
}
