/* fuzz_options.c - what is typed: the first byte chooses the command, a line each is a word. */
#include "cmd/options.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { WORDS = 16 };
    char *word[WORDS + 1] = {0}, choice[ASSAY_MAX_NAME];
    int count = 0, commands_there = 0;
    if (size == 0) return 0;
    while (commands[commands_there])
        commands_there++;
    const struct command *command = commands[data[0] % commands_there];
    char *text = fuzz_text(data + 1, size - 1), *rest = text;
    while (rest && count < WORDS)
        word[count++] = strsep(&rest, "\n");
    void *arguments = calloc(1, command->size + sizeof(struct given));
    fuzz_check(arguments != NULL, "there is memory");
    if (command->defaults) memcpy(arguments, command->defaults, command->size);
    if (!command->raw && options_parse(command, count, word, arguments) == 0 && command->check)
        command->check(arguments);
    const char *choices = text;
    while (choices_next(&choices, choice))
        fuzz_check(strlen(choice) < sizeof choice, "a choice is a name");
    free(arguments);
    free(text);
    return 0;
}
