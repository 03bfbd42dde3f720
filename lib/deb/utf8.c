#include "utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Bytes of the character of several bytes at s, 0 if there is none; n bytes are left. */
static size_t char_len(const unsigned char *s, size_t n)
{
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	size_t len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if (!is_tail(s[i]))
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

size_t utf8_check(const char *p, size_t n)
{
	const unsigned char *s = (const unsigned char *)p;
	size_t i = 0;
	while (i < n) {
		uint64_t word;
		if (n - i >= sizeof word) {
			memcpy(&word, s + i, sizeof word);
			if (!(word & 0x8080808080808080u)) {
				i += sizeof word;
				continue;
			}
		}
		size_t len = s[i] < 0x80 ? 1 : char_len(s + i, n - i);
		if (!len)
			return i;
		i += len;
	}
	return n;
}
