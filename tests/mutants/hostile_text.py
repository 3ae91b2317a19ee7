"""Mutants of the rules about hostile text: nothing of it is obeyed, and the work for it is bounded."""

from typing import Final

from tests.mutants.mutant import Mutant

_SAFE = "tests/console/text/test_safe.py"
_FIELDS = "tests/console/shared/test_fields.py"
_MARKDOWN = "tests/console/conversation/test_markdown.py"
_BUDGET = "tests/console/shared/test_text_budget.py"

MUTANTS: Final = (
    Mutant(
        "console/model/text/safe.py",
        "0x115F, 0x1160, 0x17B4,",
        "0x1160, 0x17B4,",
        "no invisible character is shown",
        f"{_SAFE}::test_no_control_and_no_invisible_character_is_shown",
    ),
    Mutant(
        "console/model/text/safe.py",
        "for code in _VISIBLE if code >= 0x7F}",
        "for code in _VISIBLE if code > 0x9F}",
        "JSON output has escapes in place of control characters",
        f"{_SAFE}::test_json_has_escapes_in_place_of_controls_and_invisible_characters",
    ),
    Mutant(
        "console/cli/terminal.py",
        'self.write_bytes((safe_json("\\n".join(lines)) + "\\n").encode())',
        'self.write_bytes(("\\n".join(lines) + "\\n").encode())',
        "JSON on a terminal has escapes in place of control characters",
        "tests/console/terminal/test_hostile_output.py::test_json_on_a_terminal_has_escapes",
    ),
    Mutant(
        "console/ui/shared/fields.py",
        'shown = "•" * len(self.value) if self.password else in_place(self.value)',
        'shown = "•" * len(self.value) if self.password else self.value',
        "a line shows its text without characters that a terminal obeys",
        f"{_FIELDS}::test_fields_show_their_text_without_characters_that_a_terminal_obeys",
    ),
    Mutant(
        "console/ui/shared/fields.py",
        'return Text(in_place(self.document.get_line(line_index)), end="", no_wrap=True)',
        'return Text(self.document.get_line(line_index), end="", no_wrap=True)',
        "a text area shows its text without characters that a terminal obeys",
        f"{_FIELDS}::test_fields_show_their_text_without_characters_that_a_terminal_obeys",
    ),
    Mutant(
        "console/ui/main/edit_reply.py",
        "from console.ui.shared.fields import SafeTextArea",
        "from textual.widgets import TextArea as SafeTextArea",
        "every field is a safe one",
        f"{_FIELDS}::test_no_plain_field_is_created",
    ),
    Mutant(
        "console/ui/conversation/markdown.py",
        "        shown = safe(text)\n        if style:",
        "        shown = text\n        if style:",
        "text is made safe after character references are decoded, and can be seen",
        f"{_MARKDOWN}::test_decoded_references_can_be_seen",
    ),
    Mutant(
        "console/ui/conversation/code_highlight.py",
        "lexer = LEXERS.get(language.lower())",
        "lexer = LEXERS.get(language.lower(), language)",
        "only languages with a linear lexer are highlighted",
        f"{_MARKDOWN}::test_only_measured_languages_are_highlighted_and_only_short_code",
    ),
    Mutant(
        "console/ui/conversation/markdown.py",
        "if self._marks_left < 0:",
        "if self._marks_left < -9_000:",
        "only so much inline Markdown is parsed",
        f"{_MARKDOWN}::test_only_so_many_marks_are_parsed[![]",
    ),
    Mutant(
        "console/ui/conversation/markdown.py",
        "if any(token.nesting and token.level > MAX_NESTED_BLOCKS for token in tokens):",
        "if any(token.nesting and token.level > 99 for token in tokens):",
        "text that is nested too deep for the parser is not lost",
        f"{_MARKDOWN}::test_deep_nesting_is_drawn_within_the_width_and_loses_no_text[60-60-> ]",
    ),
    Mutant(
        "console/ui/conversation/markdown.py",
        "if len(tokens) > _MIN_CHECKED_TOKENS + MAX_TOKENS_PER_ROW * len(lines):",
        "if len(tokens) > 9_000 + MAX_TOKENS_PER_ROW * len(lines):",
        "a screen parses a bounded amount of text",
        f"{_MARKDOWN}::test_work_without_rows_is_not_done_for_long[empty quotes]",
    ),
    Mutant(
        "console/model/conversation/text_parts.py",
        'if len(piece) >= DENSE_TEXT_CHARS and piece.count("\\n") * DENSE_LINE_CHARS > len(piece):',
        "if len(piece) < 0:",
        "the lines of a large text with short lines are not looked at",
        f"{_BUDGET}::test_lines_of_a_large_text_with_short_lines_are_not_looked_at[\\n]",
    ),
    Mutant(
        "console/model/inspector/json_values.py",
        "        if _may_contain(children, written):",
        "        if children:",
        "a search reads only children that contain the text",
        f"{_BUDGET}::test_search_reads_only_children_that_contain_the_text",
    ),
    Mutant(
        "console/model/inspector/state_diff.py",
        "compared = islice(_walk(before, after, ()), MAX_COMPARED_VALUES)",
        "compared = _walk(before, after, ())",
        "values are compared up to a limit",
        f"{_BUDGET}::test_values_are_compared_up_to_a_limit",
    ),
    Mutant(
        "console/ui/inspector/tabs.py",
        "            if left <= 0:\n                return rows, True",
        "            if left <= -9_000_000:\n                return rows, True",
        "the inspector shows a bounded amount of output",
        f"{_BUDGET}::test_output_and_state_show_a_bounded_number_of_rows",
    ),
    Mutant(
        "console/ui/inspector/tabs.py",
        "for key in scope.keys[:MAX_SCOPE_KEYS]:",
        "for key in scope.keys:",
        "the inspector shows a bounded number of keys",
        f"{_BUDGET}::test_output_and_state_show_a_bounded_number_of_rows",
    ),
)
