/* The words that the printed forms of the matrix share; nobody else includes this. */
#pragma once
#include "cells.h"

struct cell_meaning {
	const char *word, *meaning;
};

extern const struct cell_meaning cell_meanings[]; /* ends with a NULL word */
/* "proved", "no wheel" ...: one or two words for a cell. */
const char *cell_word(const struct cell *c) _must_check_;
/* True if some cell has that word. */
bool cells_use(const struct cells *c, const char *word) _must_check_;
/* The cells of a pair, one for each Python from *row on; false if there is no such pair. */
bool cells_row(const struct cells *c, const char *cuda, const char *torch, const struct cell **row);
