/* view_fixture.h - a fake run and the view of it, which each test makes and leaves to be released.
 */
#pragma once

#include "tests/test.h"
#include "tests/fake_run.h"
#include "show/view.h"

static struct fake_run fake;
static struct view view;

static inline int release(void **state)
{
    view_release(&view);
    fake_end(&fake);
    return 0;
}
