#include "task/decide.h"
