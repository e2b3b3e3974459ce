"""Lookups that compute: sums, products, expressions, currencies."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, amount, decimal, pick, price, text
from tools.tiny.text.lookup_fields import RESULT, A, B
from tools.tiny.text.source import phrases

ADD = Concept(
    phrases("""add | sum | plus | add_numbers | sum_two | addition | calc_add | addNumbers | add_two | get_sum |
calculate_sum | add_values | sumNumbers | adder | compute_sum | sum_numbers | sum_values | add_values_together |
getSum | addition_tool | add_up | plus_numbers | calculateSum | find_sum | add_integers | sum_of_two | sum_up |
total_of | accumulate | combine_values | addPair | tally | increase_by | sum_pair | compute_total | addend_tool |
join_numbers | plusOperator"""),
    phrases("""Add two numbers. | The sum of two numbers | Adds a and b. | Returns a + b | Addition |
Sum two numbers. | Adds two numbers. | Adds one number to another. | Returns the sum of a and b. |
The sum of a and b | Gives the sum of two values. | Add a and b together. | Sums up two numbers. | Calculates a sum. |
Plus | Computes a + b. | Adds numbers | Adds up two numbers and returns the total. | The total of two numbers. |
Calculates the sum of two numbers. | Use this to add two numbers. | Use this tool for additions. | Sum | a plus b |
Does additions."""),
    (A, B),
    phrases("""What is {0} + {1}? | Add {0} and {1}. | {0} + {1} | What is {0} plus {1}? | Sum {0} and {1}. |
How much is {0} plus {1}? | Compute {0} + {1}. | Please add {0} and {1}. | {0} plus {1}? |
What is the sum of {0} and {1}? | Calculate {0} + {1}. | {0} and {1} together? | Find {0} + {1}. | {0}+{1} |
Give me {0} plus {1}. | The sum of {0} and {1}, please. | What do {0} and {1} make? | Get {0} + {1}. |
Total of {0} and {1}? | {0} added to {1}? | Do {0} + {1}. | I need {0} plus {1}. | Add {1} to {0}. |
To {0}, add {1}. | Add up {0} and {1}. | Can you add up {0} and {1}? | Add {0} and {1} together. |
Add the numbers {0} and {1}. | Add these two numbers: {0}, {1} | What do I get if I add {0} and {1}? |
What is {0} with {1} added? | If I add {1} to {0}, what do I get? | Sum up {0} and {1}. | Sum of {0} and {1}? |
What's the sum of {0} and {1}? | Give me the sum of {0} and {1}. | Compute the sum of {0} and {1}. |
Find the sum of {0} and {1}. | Calculate the sum of {0} and {1}. | I need the sum of {0} and {1}. | sum {0} {1} |
{0} and {1}, what is the sum? | What's {0} plus {1}? | Work out {0} plus {1}. | Tell me what {0} plus {1} is. |
Do you know what {0} plus {1} is? | {0} plus {1} equals what? | {0} plus {1} makes? | what does {0} plus {1} make |
What does {0} + {1} equal? | Work out {0} + {1}. | How much is {0} + {1}? | How much are {0} and {1} together? |
What are {0} and {1} together? | What do {0} and {1} come to together? | How much do {0} and {1} add up to? |
What do {0} and {1} add up to? | {0} and {1} in total? | What is the total of {0} and {1}? |
Tell me the total of {0} and {1}. | I paid {0} and then {1}. What is the total? |
One bill is {0}, the other is {1}. What is the total? | I have {0} and get {1} more. How much do I have? |
There were {0} and now {1} more. How many together? | I ran {0} km and then {1} km. How much is that together? |
Put {0} and {1} together. | The numbers {0} and {1}, added. | {0} and another {1}: how much? |
Pile {1} on top of {0}. | {0} euros plus {1} euros makes what? | Count {0} and {1} up. |
Combine {0} with {1} into a sum. | Join {0} and {1} by adding. | Raise {0} by {1}. | {0} increased by {1}? |
What is {0} increased by {1}? | The numbers to add are {0} and {1}. | Two parts, {0} and {1}. How big is the whole? |
{0} together with {1}? | {0} and {1} in all? | {0} and {1} added? | {0} and {1} summed? | {0} and {1} combined? |
{0} and {1}: together? | {0} plus {1}, together? | Together, {0} and {1}? | Find {0} and {1} together. |
Find the total of {0} and {1}. | Find what {0} + {1} is. | Give me {0} + {1}. | Say {0} + {1}."""),
    (Outcome(("sum", *RESULT), amount(0, 1999), "{}"),),
    "{0} + {1} is {o}.",
)

MULTIPLY = Concept(
    phrases("""multiply | times | product | mul | multiply_numbers | calc_multiply | multiplication | get_product |
multiply_two | multiplyNumbers | mult | calculate_product | multiplier | multiply_values | product_of |
compute_product | multiply_by | find_product | getProduct | times_table | multiply_tool | calculateProduct |
product_of_two | multiply_integers | mul_numbers | times_numbers | timesTable | factor_product | compute_times |
repeated_sum | area_of | scale_number | times_operator | multiplying | by_factor | mult_numbers"""),
    phrases("""Multiply two numbers. | The product of two numbers | Multiplies a and b. | Returns a * b |
Multiplication | Product of two numbers. | Multiplies two numbers. | Returns the product of a and b. |
The product of a and b | Multiply a by b. | Calculates a product. | Computes a * b. |
Gives the product of two values. | Multiplies one number by another. | Times | a times b |
Multiply one number by another. | Calculates the product of two numbers. | Product | Multiplies numbers |
Use this to multiply two numbers. | Use this tool for multiplications. | Does multiplications. |
Multiplies a with b and returns the product."""),
    (A, B),
    phrases("""What is {0} * {1}? | Multiply {0} by {1}. | {0} times {1} | What is {0} times {1}? | {0} * {1} |
How much is {0} times {1}? | Compute {0} * {1}. | Product of {0} and {1}? | Multiply {0} and {1}. |
Calculate {0} * {1}. | {0} multiplied by {1}? | {0} x {1} | The product of {0} and {1}, please. |
Find {0} times {1}. | Give me {0} times {1}. | Get {0} * {1}. | {0}*{1} | What is {0} multiplied by {1}? |
I need {0} times {1}. | Multiply {0} with {1}. | Can you multiply {0} by {1}? | Multiply the numbers {0} and {1}. |
Multiply these two numbers: {0}, {1} | What do I get if I multiply {0} by {1}? |
If I multiply {0} and {1}, what do I get? | Take {0} and multiply it by {1}. | Please multiply {0} and {1} for me. |
multiply {0} {1} | I want to multiply {0} with {1}. | What is the product of {0} and {1}? |
Give me the product of {0} and {1}. | Find the product of {0} and {1}. | Compute the product of {0} and {1}. |
Calculate the product of {0} and {1}. | I need the product of {0} and {1}. | Tell me the product of {0} and {1}. |
{0} and {1}, what is the product? | What's {0} times {1}? | Work out {0} times {1}. | Compute {0} times {1}. |
Calculate {0} times {1}. | Tell me what {0} times {1} is. | Do you know what {0} times {1} is? |
{0} times {1} equals what? | {0} times {1} makes? | what does {0} times {1} make | Take {0} times {1}. |
Take {0} multiplied by {1}. | How much is {0} * {1}? | What does {0} * {1} equal? | Work out {0} * {1}. |
Find {0} * {1}. | Do {0} * {1}. | What is {0} x {1}? | How much is {0} x {1}? | Calculate {0} x {1}. |
How much is {0} multiplied by {1}? | Give me {0} multiplied by {1}. | Compute {0} multiplied by {1}. |
What do we get for {0} multiplied with {1}? | The numbers {0} and {1}, multiplied. |
A field is {0} metres by {1} metres. What is its area? | A room is {0} by {1} metres. How big is its area? |
The area of a table of {0} by {1}? | A wall is {0} metres wide and {1} metres high. How big is its area? |
{0} boxes with {1} each. How many in all? | Each costs {0}. I buy {1}. What do I pay? | Scale {0} by {1}. |
{0} by {1}, multiplied. | Area of {0} by {1}? | The factors are {0} and {1}. Multiply. |
Multiplication: {0}, {1} | {0} packs of {1} are how many?"""),
    (Outcome(("product", *RESULT), amount(0, 9999), "{}"),),
    "{0} * {1} is {o}.",
)

SUBTRACT = Concept(
    phrases("""subtract | minus | difference | sub | subtract_numbers | calc_subtract | subtract_two |
get_difference | subtractNumbers | take_away | calculate_difference | subtract_values | find_difference |
compute_difference | getDifference | subtraction | deduct | minus_numbers | subtract_from | difference_of |
sub_numbers | subtract_tool | calculateDifference | subtract_integers | takeAway | reduce_by | decrease_by |
remainder_of | gap_between | subtraction_tool | take_off | minusOperator | compute_minus | leftover |
difference_tool | subtractPair | lower_by | withdraw_number"""),
    phrases("""Subtract two numbers. | The difference of two numbers | Subtracts b from a. | Returns a - b |
Subtraction | Difference of two numbers. | Subtracts one number from another. | Returns the difference of a and b. |
The difference of a and b | Subtract b from a. | Calculates a difference. | Computes a - b. | Takes b away from a. |
Minus | a minus b | Gives the difference of two values. | Subtracts two numbers. |
Calculates the difference of two numbers. | Difference | Subtracts numbers | Use this to subtract two numbers. |
Use this tool for subtractions. | Does subtractions. | Takes one number away from another. |
Subtracts b from a and returns the difference."""),
    (A, B),
    phrases("""What is {0} - {1}? | {0} minus {1} | What is {0} minus {1}? | {0} - {1} | How much is {0} minus {1}? |
Compute {0} - {1}. | Difference of {0} and {1}? | Calculate {0} minus {1}. | Calculate {0} - {1}. | {0} less {1}? |
The difference of {0} and {1}, please. | Find {0} minus {1}. | Give me {0} minus {1}. | Get {0} - {1}. | {0}-{1} |
What remains of {0} after {1}? | I need {0} minus {1}. | Do {0} - {1}. | Subtract {1} from {0}. |
Can you subtract {1} from {0}? | From {0}, subtract {1}. | Please subtract {1} from {0} for me. |
What do I get if I subtract {1} from {0}? | If I subtract {1} from {0}, what is left? |
I want to subtract {1} from {0}. | Take {1} from {0}. | Take {1} away from {0}. | Take away {1} from {0}. |
If I take {1} away from {0}, what is left? | From {0}, take away {1}. | What is left if I take {1} from {0}? |
What is {0} take away {1}? | {0} take away {1} | What's {0} minus {1}? | Work out {0} minus {1}. |
Compute {0} minus {1}. | Tell me what {0} minus {1} is. | Do you know what {0} minus {1} is? |
{0} minus {1} equals what? | {0} minus {1} makes? | what does {0} minus {1} make | I need to know {0} minus {1}. |
How much is {0} - {1}? | What does {0} - {1} equal? | Work out {0} - {1}. | Find {0} - {1}. | Give me {0} - {1}. |
What is the difference between {0} and {1}? | What is the difference of {0} and {1}? |
Find the difference of {0} and {1}. | Compute the difference between {0} and {1}. |
Give me the difference between {0} and {1}. | Calculate the difference of {0} and {1}. |
I need the difference between {0} and {1}. | By how much is {0} more than {1}? | How much more is {0} than {1}? |
How much bigger is {0} than {1}? | How much is {0} less {1}? | What is {0} less {1}? | {0} reduced by {1}? |
What is {0} reduced by {1}? | Reduce {0} by {1}. | How much is left of {0} after {1}? |
What is left of {0} without {1}? | I had {0} and spent {1}. How much is left? |
There were {0} and {1} are gone. How many are left? | I have {0} and give away {1}. What remains? |
If {1} of {0} are gone, what remains? | If I reduce {0} by {1}, what is left? | How many more is {0} than {1}? |
I spent {1} of my {0}. What is left? | {0} lowered by {1} is what? | I had {0} and gave away {1}. What remains? |
Remove {1} from {0}. | {0} drops by {1}. What is it then? | Deduct {1} from {0}. |
What remains of {0} without {1}? | Cut {0} by {1}. | From {0}, {1} is gone. How much is there? |
{0} euros, {1} spent. What do I still have? | Decrease {0} by {1}. | Gap between {0} and {1}? |
Lower {0} by {1}. | Withdraw {1} from {0}."""),
    (Outcome(("difference", *RESULT), amount(-99, 999), "{}"),),
    "{0} - {1} is {o}.",
)

CALCULATE = Concept(
    phrases("""calculate | calculator | evaluate | eval_expression | math | compute | solve | calc | run_math |
do_math | math_eval | calculate_expression | evaluateMath | evaluate_expression | calculator_tool |
compute_expression | do_calculation | run_calculation | calculateExpression | arithmetic | solve_math | eval_math |
math_tool | work_out | calculate_result | simple_calculator | mathEval | crunch_numbers | formula_eval | reckon |
run_formula | math_engine | resolve_expression | calcEngine | number_cruncher | expression_tool | mathSolver |
compute_formula | press_equals | abacus | sheet_formula"""),
    phrases("""Evaluate an expression. | A calculator | Computes an arithmetic expression. | Evaluates math. |
Calculator. | Does arithmetic. | Evaluates an expression. | Calculates an expression. | Evaluate a formula. |
Computes the value of a formula. | Returns the result of a calculation. | Does a calculation. |
A simple calculator for arithmetic | Math tool | Works out a calculation and returns the result. | Arithmetic |
Runs a calculation. | Calculate something. | Computes an expression and returns its value. | Use this for math. |
Use this tool for any calculation. | Calculates the result of a math expression. | Evaluates a math formula. |
Calculator for math expressions | Solves an arithmetic expression."""),
    (
        Field(
            ("expression", "expr", "formula", "input", "calculation", "math"),
            "string",
            text(lambda s: f"{s.integer(1, 999)} {s.any(('+', '-', '*', '/'))} {s.integer(1, 999)}"),
        ),
    ),
    phrases("""What is {0}? | Calculate {0}. | {0} = ? | Compute {0}. | How much is {0}? | Evaluate {0}. |
Work out {0}. | Please compute {0} | {0} | Solve {0} | Result of {0}? | Find {0}. | What does {0} give? |
The value of {0}? | Get {0}. | Do the math: {0} | Tell me {0}. | I need {0}. | Run the calculation {0} | What's {0}? |
What is the result of {0}? | What's the result of {0}? | Give me the result of {0}. | Tell me the result of {0}. |
I need the result of {0}. | {0}, what is the result? | What is the value of {0}? | Give me the value of {0}. |
Compute the value of {0}. | Find the value of {0}. | What does {0} equal? | {0} equals what? | {0} equals? |
Tell me what {0} equals. | What does {0} make? | {0} makes what? | What does {0} come to? | What do I get for {0}? |
What do you get for {0}? | What comes out of {0}? | How much does {0} make? | How much is {0} exactly? |
Tell me how much {0} is. | I want to know how much {0} is. | Do you know what {0} is? | Can you work out {0}? |
Work out {0} for me. | Work out the result of {0}. | Work this out: {0} | Calculate this: {0} |
Can you calculate {0} for me? | Use the calculator: {0} | Use the calculator for {0}. |
Type {0} into the calculator. | Calculator: {0} | What does the calculator say to {0}? |
Run {0} through the calculator. | Evaluate the expression {0}. | Evaluate this expression: {0} |
Compute the expression {0}. | What is the expression {0} equal to? | Solve this: {0} | Solve {0} for me. |
A sum for you: {0} | Here is a sum: {0} | Do this sum: {0} | Do the sum {0}. | Some math: {0} | A bit of math: {0} |
Math: {0} | My homework says {0}. What is the result? | I have to compute {0}. | Help me to compute {0}. |
{0}, please. | What number does {0} make? | Crunch this: {0} | Type {0} into your calculator. |
Put this through the calculator: {0} | Formula: {0} | Resolve {0}. | The calculator should do {0}. |
My homework says {0}. | Enter {0} and press equals. | Find the result: {0} | Run the numbers: {0} |
Sheet says {0}. Result? | Reckon {0}. | Arithmetic: {0} | Process this expression: {0}"""),
    (Outcome(RESULT, amount(-99, 9999), "{}"),),
    "{0} = {o}.",
)

CURRENCY = Concept(
    phrases("""convert_currency | exchange | currency | convert_money | fx_convert | convertCurrency | change_money |
currency_convert | exchange_money | money_exchange | currency_exchange | convert | currency_converter |
get_exchange_rate | exchangeMoney | money_converter | convert_amount | fx | currencyConvert | swap_currency |
convert_cash | currency_change | moneyConvert | currency_calculator | exchangeRate | forex | fx_rate |
trade_currency | bank_exchange | exchange_office | cash_convert | rate_converter | moneySwap |
currency_exchange_tool | express_in"""),
    phrases("""Convert money. | Currency conversion | Converts an amount between currencies. | Exchange money |
Currency converter. | Change one currency to another. | Converts money. |
Exchange money from one currency to another. | Converts money into another currency. | Currency exchange |
Convert an amount of money to another currency. | Money converter | Exchanges money. |
Returns an amount in another currency. | Changes money | Calculates what money is worth in another currency. |
Exchange rates | Currency calculator. | What an amount is in another currency | Converts between two currencies. |
Use this to convert money. | Use this tool to change one currency into another. | Currencies |
Convert a sum from one currency to another. | Gives the value of money in a different currency."""),
    (
        Field(("amount", "value", "sum", "money"), "number", decimal(1, 999)),
        Field(("from", "from_currency", "source", "base"), "string", text(pick(words.CURRENCIES))),
        Field(("to", "to_currency", "target", "quote"), "string", text(pick(words.CURRENCIES))),
    ),
    phrases("""Convert {0} {1} to {2}. | How much is {0} {1} in {2}? | {0} {1} in {2}? | Change {0} {1} into {2}. |
What are {0} {1} in {2}? | Exchange {0} {1} for {2}. | I have {0} {1}. What is that in {2}? | Turn {0} {1} into {2}. |
{0} {1} are how many {2}? | I want {2} for {0} {1}. | Swap {0} {1} to {2}. | Value of {0} {1} in {2}? |
How many {2} do I get for {0} {1}? | Give me {0} {1} in {2}. | {0} {1} to {2} | What is {0} {1} worth in {2}? |
Make {2} of {0} {1}. | Convert {0} {1} into {2}. | Convert {0} {1} to {2} for me. | Can you convert {0} {1} to {2}? |
convert {0} {1} {2} | I want to convert {0} {1} to {2}. | I need {0} {1} converted to {2}. |
Convert this to {2}: {0} {1} | Change {0} {1} to {2}. | I want to change {0} {1} into {2}. |
Can I change {0} {1} into {2}? How much is it? | If I change {0} {1} to {2}, what do I get? |
Exchange {0} {1} into {2}. | I want to exchange {0} {1} for {2}. | Can you exchange {0} {1} for {2}? |
If I exchange {0} {1}, how many {2} do I get? | Exchange my {0} {1} to {2}. | What's {0} {1} in {2}? |
What is {0} {1} in {2}? | What would {0} {1} be in {2}? | What does {0} {1} make in {2}? |
Tell me what {0} {1} is in {2}. | Tell me how much {0} {1} is in {2}. | Do you know how much {0} {1} is in {2}? |
How much is {0} {1} in {2} today? | In {2}, how much is {0} {1}? | In {2}, what are {0} {1} worth? |
{0} {1} in {2}, please. | {0} {1} into {2}? | {0} {1} equals how many {2}? | How many {2} are {0} {1}? |
How many {2} is {0} {1}? | How many {2} are there in {0} {1}? | How many {2} will I have for {0} {1}? |
How much {2} do I get for {0} {1}? | How much {2} is {0} {1} worth? | How much are {0} {1} worth in {2}? |
The value of {0} {1} in {2}, please. | Give me the value of {0} {1} in {2}. | Show me {0} {1} in {2}. |
Turn my {0} {1} into {2}. | Swap {0} {1} for {2}. | I want to swap {0} {1} for {2}. |
It costs {0} {1}. What is that in {2}? | I paid {0} {1}. How much is that in {2}? |
I earn {0} {1}. How many {2} is that? | The hotel costs {0} {1}. How much is that in {2}? |
I have {0} {1} and want {2}. How much do I get? | I have {0} {1} left. Change it to {2}. |
My bill is {0} {1}. What is it in {2}? | Calculate {0} {1} in {2}. | Swap {0} {1} into {2}. |
Trade {0} {1} for {2}. | I hold {0} {1}. Give me that in {2}. | {0} {1} at the bank in {2}? |
At the exchange office I hand over {0} {1} and want {2}. | My wallet has {0} {1}. In {2}? |
Exchange office: {0} {1} to {2} | Express {0} {1} in {2}. | A bill of {0} {1}: what is it in {2}? |
{0} {1} buys how many {2}? | The price is {0} {1}. Say it in {2}. | From {1} to {2}: {0}"""),
    (Outcome(("converted", "amount", *RESULT), price, "{}"),),
    "{0} {1} are {o} {2}.",
)
