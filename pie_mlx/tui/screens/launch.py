"""The screen that starts an installed program, by a form of its parameters."""

from collections.abc import Iterator
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.containers import Container, VerticalScroll
from textual.widget import Widget
from textual.widgets import Button, Input, Label, Static

from pie_mlx.errors import PieError
from pie_mlx.tui import commands
from pie_mlx.tui.model.facts import InstalledProgram, Parameter
from pie_mlx.tui.model.views.launch_form import form_budget, form_input
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.table import Table

Installed = Column[InstalledProgram]
COLUMNS = (
    Installed("program", 20, lambda row: [Piece(row.name, "bright"), Piece(f"@{row.version}", "muted")], most=36),
    Installed("what it does", 0, lambda row: Piece(row.description, "muted"), show_from=44),
)
UNKNOWN = "a recording holds no programs to launch"
NONE = "no program is installed: pie install PATH"


class LaunchScreen(MonitorScreen):
    NAME = "launch"
    BINDINGS: ClassVar = place_bindings("launch")

    def __init__(self) -> None:
        super().__init__()
        self._program: InstalledProgram | None = None
        self.fields = Container(id="fields")
        self.form = VerticalScroll(id="form", classes="panel", can_focus=False)
        self.command = Static("", id="command", markup=False)
        self.go = Button("Launch", id="go", disabled=True)
        self.installed = Table[InstalledProgram](COLUMNS, lambda row: row.name, title="Programs", id="installed")

    def body(self) -> Iterator[Widget]:
        yield self.installed
        with self.form:
            yield self.fields
            yield self.command
            yield self.go

    def show_body(self, view: View) -> None:
        self.installed.empty = UNKNOWN if view.facts.programs is None else NONE
        self.installed.show([program for program in view.facts.programs or () if not program.answers_requests])
        if self.installed.selected_item != self._program and self.fields.is_attached:
            self.run_worker(self._show_form, exclusive=True)

    async def on_table_selected(self, message: Table.Selected) -> None:
        await self._show_form()

    def action_open(self) -> None:
        """Move from the list to the form."""
        for field in self.query("#fields Input").results(Input):
            field.focus()
            return

    async def _show_form(self) -> None:
        """Show a field for each parameter of the selected program."""
        self._program = program = self.installed.selected_item
        await self.fields.remove_children()
        if program is not None:
            self.form.border_title = Text(f"Launch {program.name}@{program.version}")
            widgets = [widget for parameter in program.parameters for widget in _field(parameter)]
            budget = Input(placeholder="no limit of its own", id="budget")
            await self.fields.mount(*widgets, Label("token budget", classes="name"), budget)
        self.go.disabled = program is None
        self._show_command()

    def on_input_changed(self, message: Input.Changed) -> None:
        self._show_command()

    @on(Input.Submitted, "#form Input")
    def _next_field(self) -> None:
        self.screen.focus_next()

    def on_button_pressed(self, message: Button.Pressed) -> None:
        if self.monitor.view.refusal:
            self.monitor.say(self.monitor.view.refusal)
            return
        try:
            program, input, budget = self._filled()
        except PieError as error:
            self.monitor.say(error.message)
            return
        controller = self.monitor.controller

        async def launch() -> None:
            self.monitor.launched(await controller.launch(program, input, budget))

        self.monitor.steer(launch, f"launched {program}")

    def _show_command(self) -> None:
        """Show the equivalent command line, or the first problem of the form."""
        try:
            text = f"$ {commands.run(*self._filled())}" if self._program else ""
        except PieError as error:
            text = error.message
        self.command.update(text)

    def _filled(self) -> tuple[str, dict[str, object], int | None]:
        if self._program is None:
            return "", {}, None
        typed = {field.name: field.value for field in self.query("#fields Input").results(Input) if field.name}
        name = f"{self._program.name}@{self._program.version}"
        budgets = self.query("#budget").results(Input)
        return name, form_input(self._program, typed), form_budget(next((field.value for field in budgets), ""))


def _field(parameter: Parameter) -> list[Widget]:
    must = " *" if parameter.required else ""
    label = f"{parameter.name}{must} ({parameter.type}) {parameter.description}"
    hint = "" if parameter.default is None else f"{parameter.default}"
    return [Label(label, classes="name", markup=False), Input(placeholder=hint, name=parameter.name)]
