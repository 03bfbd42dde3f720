/* What NVRTC's PTX is freed of. */
#include "unit.h"

#include "../../debbuild/make/ptx.h"

static void expect(const char *text, const char *want)
{
	_cleanup_(buf_done) struct buf out = BUF_INIT(1 << 16);
	ptx_drop_unused(text, strlen(text), &out);
	assert_string_equal(buf_str(&out), want);
}

#define HEAD	 ".version 8.7\n.target sm_90\n.address_size 64\n\n"
#define FUNCTION ".visible .entry k()\n{\n\tmov.u64 %rd1, used;\n\tret;\n}\n"

static void unused_variables_go(void **state)
{
	expect(HEAD ".global .align 1 .b8 unused[1];\n"
		    ".weak .global .align 4 .u32 _ZN1aE;\n"
		    ".visible .const .align 4 .u32 _ZN1bE = 5;\n"
		    ".global .align 4 .b8 used[8] = {1, 2};\n" FUNCTION,
	    HEAD ".global .align 4 .b8 used[8] = {1, 2};\n" FUNCTION);
}

/* One that only a dropped one names goes too; one that a kept one names stays. */
static void references_count(void **state)
{
	expect(HEAD ".global .align 8 .u64 first = generic(second);\n"
		    ".global .align 8 .u64 second = generic(third);\n"
		    ".global .align 4 .u32 third;\n" FUNCTION,
	    HEAD FUNCTION);
	expect(HEAD ".global .align 8 .u64 used = generic(second);\n"
		    ".global .align 4 .u32 second;\n" FUNCTION,
	    HEAD ".global .align 8 .u64 used = generic(second);\n"
		 ".global .align 4 .u32 second;\n" FUNCTION);
}

static void declarations_of_several_lines_go_whole(void **state)
{
	expect(HEAD ".global .align 4 .b8 table[4] = {\n1, 2,\n3, 4};\n" FUNCTION, HEAD FUNCTION);
}

/* What is no declaration of the module, or not whole, stays. */
static void all_else_stays(void **state)
{
	static const char *const texts[] = {"", "\n", ";", ".global", ".global .align 4 .b8",
	    ".global .align 4 .b8 x", ".global .align 4 .b8 x[4]", ".global .align 4 .b8 x[4];",
	    ".extern .shared .align 16 .b8 smem[];\n", ".extern .global .align 4 .u32 x;\n",
	    "{\n.global .align 4 .u32 inside;\n}\n", "{{{{", "}}}}\n.global .align 4 .u32",
	    "\tused.global .align 4 .u32 x;\n", ".global .align 4 .u32 a, b;\nx a\n",
	    ".func f()\n{\n.local .align 8 .b8 depot[16];\n}\n",
	    "// .global .align 4 .u32 comment;\n"};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		expect(texts[i], texts[i]);
}

/* A name that is part of another counts for neither. */
static void names_are_whole_words(void **state)
{
	expect(HEAD ".global .align 4 .u32 use;\n.global .align 4 .u32 used;\n" FUNCTION,
	    HEAD ".global .align 4 .u32 used;\n" FUNCTION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(unused_variables_go),
	    CASE(references_count),
	    CASE(declarations_of_several_lines_go_whole),
	    CASE(all_else_stays),
	    CASE(names_are_whole_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
