"""Sums, differences and comparisons of numbers up to 99, with and without a written thought."""

from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases

SUMS = phrases("""What is {a} + {b}? | {a} + {b} | {a} + {b} = ? | Add {a} and {b}. | What is {a} plus {b}? |
Compute {a} + {b}. | How much is {a} + {b}? | {a} plus {b}? | Sum of {a} and {b}? |
What is the sum of {a} and {b}? | Calculate {a} plus {b}. | Please add {a} and {b}. |
How much is {a} plus {b}? | Can you add {a} and {b}? | I have {a} and get {b} more. How many do I have? |
Tell me {a} + {b}. | Work out {a} + {b}. | And {a} + {b}? |
{a} and {b} together? | What do {a} and {b} make? | {a} and {b} is how much? | Give me {a} + {b}. |
The sum of {a} and {b}, please. | Solve {a} + {b}. | What is {a} added to {b}? | First {a}, then {b} more. How many? |
{a}+{b} | {a}+{b}= |
{a} + {b} is what? | {a} + {b} is how much? | {a} + {b} makes what? | {a} plus {b} is what? |
{a} plus {b} is how much? | {a} plus {b} makes how much? | {a} plus {b} equals what? | {a} + {b} equals? |
{a} and {b} make what? | {a} and {b} added? | {a} and {b} added together? | {a} added to {b}? |
{a} and {b}: what is the sum? | {a} and {b}: the sum? | {a} and another {b} make how many? |
{a} and {b} more is how much? | What does {a} + {b} make? | What does {a} + {b} equal? | What does {a} plus {b} make? |
What does {a} plus {b} give? | What is {a} and {b} together? | What is {a} and {b} added together? |
What is the result of {a} + {b}? | What is the result of {a} plus {b}? | What is the total of {a} and {b}? |
What do {a} and {b} add up to? | What do I get for {a} + {b}? | What do I get if I add {a} and {b}? |
What do you get for {a} plus {b}? | What do you get when you add {b} to {a}? | How much do {a} and {b} make? |
How much is {a} and {b} together? | How much do I get if I add {b} to {a}? | How many are {a} and {b} together? |
How many is {a} plus {b}? | How many do {a} and {b} make? | Add {b} to {a}. | Add up {a} and {b}. |
Add these: {a}, {b} | Add: {a}, {b} | Add the numbers {a} and {b}. | Sum: {a} and {b} | Sum: {a}, {b} |
Sum up {a} and {b}. | Total of {a} and {b}? | The total of {a} and {b}, please. | The sum of {a} and {b} is what? |
The result of {a} + {b}? | The result of {a} plus {b}, please. | Compute {a} plus {b}. |
Compute the sum of {a} and {b}. | Calculate {a} + {b}. | Calculate the sum of {a} and {b}. |
Calculate the total of {a} and {b}. | Work out {a} plus {b}. | Work out the sum of {a} and {b}. | Solve {a} plus {b}. |
Solve this: {a} + {b} | Solve: {a} + {b} = ? | Find {a} + {b}. | Find the sum of {a} and {b}. |
Find the sum: {a} + {b} | Give me {a} plus {b}. | Give me the sum of {a} and {b}. | Give me the total: {a} plus {b} |
Give me the result of {a} + {b}. | Tell me {a} plus {b}. | Tell me the sum of {a} and {b}. |
Tell me how much {a} + {b} is. | Tell me how much {a} and {b} make. | Tell me what {a} plus {b} is. |
Say how much {a} plus {b} is. | Say what {a} and {b} make together. | Put {a} and {b} together. |
Do you know what {a} plus {b} is? | Do you know how much {a} + {b} is? | I want to know {a} + {b}. |
I want to add {a} and {b}. | I want to know the sum of {a} and {b}. | I need the sum of {a} and {b}. |
I need {a} plus {b}. | I need to add {b} to {a}. | I need to know how much {a} plus {b} is. |
If I add {b} to {a}, what do I get? | If I add {a} and {b}, how much is it? |
If I have {a} and get {b} more, how many do I have? | If I have {a} and buy {b} more, how many do I have? |
I have {a} and buy {b} more. How many do I have now? | I have {a} and find {b} more. How many do I have now? |
I had {a} and got {b} more. How many do I have? | I had {a} and found {b} more. How many is that? |
I have {a} coins and get {b} more. How many coins do I have? |
I have {a} apples and buy {b} more. How many apples do I have? |
I have {a} books and you give me {b} more. How many books do I have? |
You have {a} and get {b} more. How many do you have? |
There are {a} birds and {b} more come. How many birds are there? |
There are {a} people and {b} more come in. How many people are there? |
In one box are {a}, in another {b}. How many are there together? |
One box has {a} and another has {b}. How many together? | I pay {a} and then {b} more. How much together? |
I pay {a} euros and {b} euros. How much is it together? | One costs {a} and the other {b}. How much together? |
Sum of {a} + {b}? | {a} + {b} = what? | Plus: {a} and {b} | Plus: {a}, {b}""")
DIFFERENCES = phrases("""What is {a} - {b}? | {a} - {b} | {a} - {b} = ? | Subtract {b} from {a}. |
What is {a} minus {b}? | Compute {a} - {b}. | How much is {a} - {b}? | {a} minus {b}? |
Take {b} away from {a}. | What is the difference of {a} and {b}? | Calculate {a} minus {b}. |
I have {a} and lose {b}. How many are left? | How much is {a} minus {b}? | Tell me {a} - {b}. |
Work out {a} - {b}. | And {a} - {b}? |
{a} less {b}? | What is left of {a} without {b}? | Give me {a} - {b}. | {a} without {b}? |
The difference of {a} and {b}, please. | Solve {a} - {b}. | Minus: {a} and {b} |
I had {a} and gave away {b}. What is left? | {a}-{b} | {a}-{b}= |
{a} - {b} is what? | {a} - {b} is how much? | {a} - {b} makes what? | {a} minus {b} is what? |
{a} minus {b} is how much? | {a} minus {b} makes how much? | {a} minus {b} leaves how much? |
{a} minus {b} equals what? | {a} - {b} equals? | {a} - {b} = what? | {a} less {b} is what? |
{a} less {b} is how much? | {a} without {b} is how much? | {a} take away {b} | {a} take away {b} is what? |
{a} and {b}: what is the difference? | {a} and {b}: the difference? | {b} from {a}? | {b} from {a} leaves what? |
{b} subtracted from {a}? | {b} taken away from {a}? | take {b} from {a} | difference of {a} and {b} |
What's {a} take away {b}? | What does {a} - {b} make? | What does {a} - {b} equal? | What does {a} minus {b} make? |
What does {a} minus {b} leave? | What is {a} less {b}? | What is {a} without {b}? | What is the result of {a} - {b}? |
What is the result of {a} minus {b}? | What is the difference between {a} and {b}? | What is left of {a} minus {b}? |
What is left if I take {b} from {a}? | What is left when {b} is taken from {a}? |
What is left when you subtract {b} from {a}? | What remains of {a} without {b}? |
What remains if I take {b} away from {a}? | What remains of {a} if I subtract {b}? | What do I get for {a} - {b}? |
What do I get if I subtract {b} from {a}? | What do you get for {a} minus {b}? |
What do you get when you take {b} from {a}? | How much is {a} less {b}? | How much is {a} without {b}? |
How much is {a} take away {b}? | How much is left of {a} without {b}? | How much is left if I take {b} from {a}? |
How much remains of {a} minus {b}? | How much do I get if I subtract {b} from {a}? |
How many are left of {a} without {b}? | How many are left if I take {b} from {a}? |
How many remain if {b} of {a} go away? | Take {b} away from {a} and tell me what is left. | Take away {b} from {a}. |
Subtract: {a} - {b} | Subtract the number {b} from {a}. | Subtract {b} from {a} and tell me the result. |
Difference between {a} and {b}? | Difference: {a} and {b} | The difference between {a} and {b}, please. |
The difference of {a} and {b} is what? | The result of {a} - {b}? | The result of {a} minus {b}, please. |
Minus: {a}, {b} | Compute {a} minus {b}. | Compute the difference of {a} and {b}. | Calculate {a} - {b}. |
Calculate the difference between {a} and {b}. | Work out {a} minus {b}. | Work out the difference of {a} and {b}. |
Solve {a} minus {b}. | Solve this: {a} - {b} | Solve: {a} - {b} = ? | Find {a} - {b}. |
Find the difference of {a} and {b}. | Find the difference: {a} - {b} | Give me {a} minus {b}. |
Give me the difference of {a} and {b}. | Give me the result of {a} - {b}. | Tell me {a} minus {b}. |
Tell me the difference between {a} and {b}. | Tell me how much {a} - {b} is. | Tell me what {a} minus {b} is. |
Tell me what is left of {a} without {b}. | Say how much {a} minus {b} is. | Say what is left if I take {b} from {a}. |
Can you tell me the difference of {a} and {b}? | Do you know what {a} minus {b} is? |
Do you know how much {a} - {b} is? | I want to know {a} - {b}. | I want to subtract {b} from {a}. |
I want to know the difference of {a} and {b}. | I need the difference between {a} and {b}. | I need {a} minus {b}. |
I need to subtract {b} from {a}. | I need to know how much {a} minus {b} is. | If I take {b} from {a}, what is left? |
If I subtract {b} from {a}, what do I get? | If I have {a} and lose {b}, how many are left? |
If I have {a} and give away {b}, how many remain? | If {b} of {a} are gone, how many are left? |
I have {a} and give away {b}. How many are left? | I have {a} and spend {b}. How much is left? |
I have {a} euros and spend {b}. How much is left? | I have {a} and {b} are gone. How many are left? |
I had {a} and lost {b}. How many are left? | I had {a} and lost {b}. How many do I have now? |
I had {a} and spent {b}. How much do I have now? | I had {a} apples and gave away {b}. How many apples are left? |
I have {a} coins and lose {b}. How many coins remain? | I have {a} books and sell {b}. How many books are left? |
I have {a} and sell {b} of them. How many remain? | You have {a} and lose {b}. How many are left? |
You had {a} and gave away {b}. How many do you have now? |
There are {a} birds and {b} fly away. How many birds are left? |
There are {a} people and {b} go home. How many people remain? | There were {a} and {b} went away. How many are left? |
From {a} take {b}. What is left? | From {a} subtract {b}. | How much larger is {a} than {b}? |
How much bigger is {a} than {b}? | By how much is {a} larger than {b}? | By how much is {b} smaller than {a}? |
How much smaller is {b} than {a}?""")
LARGER = phrases("""Which is larger, {a} or {b}? | Which number is bigger: {a} or {b}? |
What is more, {a} or {b}? | Is {a} or {b} larger? | Pick the larger number: {a}, {b}. |
Which is greater, {a} or {b}? | Larger: {a} or {b}? | Tell me which is bigger, {a} or {b}. |
Which one is larger, {a} or {b}? | What is the bigger number, {a} or {b}? | The larger of {a} and {b}? |
Is {a} bigger or {b}? | Find the larger one: {a}, {b}. | {a} or {b}: which is more? |
Give the greater number: {a} or {b}. | Of {a} and {b}, which is bigger? | The greater of {a} and {b}? |
Choose the bigger number: {a}, {b}. | What number is higher, {a} or {b}? | Maximum of {a} and {b}? |
Compare {a} and {b}: which is larger? |
which is bigger {a} or {b} | bigger: {a} or {b} | the larger number {a} {b} | {a} or {b}, which is larger? |
{a} or {b}, which is bigger? | {a} or {b}: which is greater? | {a} or {b}: the larger? | {a} or {b}: what is more? |
{a} or {b}, which number is higher? | {a} and {b}: which is larger? | {a} and {b}: which one is bigger? |
{a} and {b}: the greater number? | {a}, {b}: which is larger? | {a}, {b}: the bigger one? | {a}, {b}: maximum? |
Between {a} and {b}, which is larger? | Between {a} and {b}, which number is bigger? |
Between {a} and {b}, what is more? | Of {a} and {b}, which is larger? | Of {a} and {b}, which one is greater? |
Of the numbers {a} and {b}, which is higher? | Of {a} and {b}, take the larger. | Which is higher, {a} or {b}? |
Which is more, {a} or {b}? | Which is the larger number, {a} or {b}? | Which is the bigger number: {a} or {b}? |
Which is the greater one, {a} or {b}? | Which is the larger of {a} and {b}? | Which is the bigger of {a} and {b}? |
Which number is larger, {a} or {b}? | Which number is greater, {a} or {b}? | Which number is higher: {a} or {b}? |
Which number is more: {a} or {b}? | Which one is bigger, {a} or {b}? | Which one is greater: {a} or {b}? |
Which one is more, {a} or {b}? | Which of {a} and {b} is larger? | Which of {a} and {b} is bigger? |
Which of {a} and {b} is the greater number? | Which of these is larger: {a}, {b}? |
Which of these numbers is bigger? {a}, {b} | Which of these two is larger, {a} or {b}? |
Which of the two is greater: {a} or {b}? | What is larger, {a} or {b}? | What is bigger, {a} or {b}? |
What is greater, {a} or {b}? | What is higher, {a} or {b}? | What is the larger number, {a} or {b}? |
What is the larger of {a} and {b}? | What is the greater of the two: {a}, {b}? |
What is the higher number of {a} and {b}? | What is the maximum of {a} and {b}? | Is {a} larger or {b}? |
Is {a} or {b} bigger? | Is {a} or {b} greater? | Is {a} or {b} more? | Is {a} more or {b}? |
Is {a} greater or is {b}? | Is {a} the larger number or {b}? | Who has more: one with {a} or one with {b}? |
The bigger of {a} and {b}? | The bigger number: {a} or {b}? | The larger number, please: {a} or {b}? |
The larger one of {a} and {b}, please. | The greater number of {a} and {b}? | The higher of {a} and {b}? |
The maximum of {a} and {b}, please. | Maximum: {a}, {b} | Maximum of the numbers {a} and {b}? | Larger: {a}, {b} |
Greater: {a} or {b}? | Pick the bigger: {a} or {b}. | Pick the greater number: {a}, {b}. |
Pick the larger of {a} and {b}. | Choose the larger number: {a} or {b}. | Choose the greater of {a} and {b}. |
Choose the larger one: {a}, {b} | Find the bigger number: {a}, {b} | Find the larger of {a} and {b}. |
Find the maximum of {a} and {b}. | Find the greater one: {a} or {b}. | Name the larger number: {a}, {b} |
Name the bigger of {a} and {b}. | Take the larger of {a} and {b}. | Give me the larger number of {a} and {b}. |
Give me the bigger one: {a}, {b} | Give me the maximum of {a} and {b}. | Tell me which number is larger, {a} or {b}. |
Tell me which is greater: {a} or {b}. | Tell me the larger of {a} and {b}. | Tell me the bigger number: {a}, {b} |
Say which is larger, {a} or {b}. | Say which number is bigger: {a}, {b} | Say the greater of {a} and {b}. |
Compare {a} and {b}. Which is bigger? | Compare {a} with {b}: which one is greater? |
Compare {a} with {b} and name the larger. | Compare the numbers {a} and {b}. Which is higher? |
Can you tell me which is larger, {a} or {b}? | Can you tell me which number is bigger: {a} or {b}? |
Could you say which is greater, {a} or {b}? | Do you know which is bigger, {a} or {b}? |
Do you know what is more, {a} or {b}? | I have {a} and you have {b}. Which is more? |
I have {a} and {b}. Which number is larger? | I have two numbers, {a} and {b}. Which is bigger? |
I have two numbers: {a}, {b}. Give me the larger one. | There are two numbers, {a} and {b}. Which is greater? |
I want the larger of {a} and {b}. | I want to know which is bigger, {a} or {b}. |
I need the larger number: {a} or {b}? | I need the greater of {a} and {b}. | Two numbers: {a}, {b}. The larger? |
Two numbers: {a} and {b}. Which one is bigger? | Should I take {a} or {b} if I want more? |
Look at {a} and {b}. Which is larger? | And of {a} and {b}, which is greater?""")
SMALLER = phrases("""Which is smaller, {a} or {b}? | Which number is smaller: {a} or {b}? |
What is less, {a} or {b}? | Is {a} or {b} smaller? | Pick the smaller number: {a}, {b}. |
Smaller: {a} or {b}? | Which is the lower number, {a} or {b}? | Tell me which is smaller, {a} or {b}. |
Which one is smaller, {a} or {b}? | What is the smaller number, {a} or {b}? | The smaller of {a} and {b}? |
Is {a} less or {b}? | Find the smaller one: {a}, {b}. | {a} or {b}: which is less? |
Give the lower number: {a} or {b}. | Of {a} and {b}, which is smaller? | The lesser of {a} and {b}? |
Choose the smaller number: {a}, {b}. | What number is lower, {a} or {b}? | Minimum of {a} and {b}? |
Compare {a} and {b}: which is smaller? |
which is lower {a} or {b} | lower: {a} or {b} | the smaller number {a} {b} | {a} or {b}, which is smaller? |
{a} or {b}, which is lower? | {a} or {b}: which is the lesser? | {a} or {b}: the smaller? | {a} or {b}: what is less? |
{a} or {b}, which number is lower? | {a} and {b}: which is smaller? | {a} and {b}: which one is lower? |
{a} and {b}: the lesser number? | {a}, {b}: which is smaller? | {a}, {b}: the lower one? | {a}, {b}: minimum? |
Between {a} and {b}, which is smaller? | Between {a} and {b}, which number is lower? |
Between {a} and {b}, what is less? | Of {a} and {b}, which is less? | Of {a} and {b}, which one is lower? |
Of the numbers {a} and {b}, which is smaller? | Of {a} and {b}, take the smaller. | Which is less, {a} or {b}? |
Which is the smaller number, {a} or {b}? | Which is the smaller one: {a} or {b}? |
Which is the lower one, {a} or {b}? | Which is the smaller of {a} and {b}? | Which is the lesser of {a} and {b}? |
Which number is lower, {a} or {b}? | Which number is less: {a} or {b}? | Which one is lower, {a} or {b}? |
Which one is less, {a} or {b}? | Which of {a} and {b} is smaller? | Which of {a} and {b} is less? |
Which of {a} and {b} is the lower number? | Which of these is smaller: {a}, {b}? |
Which of these numbers is lower? {a}, {b} | Which of these two is smaller, {a} or {b}? |
Which of the two is less: {a} or {b}? | What is smaller, {a} or {b}? | What is lower, {a} or {b}? |
What is the lower number, {a} or {b}? | What is the smaller of {a} and {b}? |
What is the lesser of the two: {a}, {b}? | What is the lower number of {a} and {b}? |
What is the minimum of {a} and {b}? | Is {a} smaller or {b}? | Is {a} or {b} lower? | Is {a} or {b} less? |
Is {a} lower or is {b}? | Is {a} the smaller number or {b}? | Who has less: one with {a} or one with {b}? |
The lower of {a} and {b}? | The lower number: {a} or {b}? | The smaller number, please: {a} or {b}? |
The smaller one of {a} and {b}, please. | The lesser number of {a} and {b}? | The minimum of {a} and {b}, please. |
Minimum: {a}, {b} | Minimum of the numbers {a} and {b}? | Smaller: {a}, {b} | Less: {a} or {b}? |
Pick the lower: {a} or {b}. | Pick the lower number: {a}, {b}. | Pick the smaller of {a} and {b}. |
Choose the lower number: {a} or {b}. | Choose the smaller of {a} and {b}. | Choose the lesser one: {a}, {b} |
Find the lower number: {a}, {b} | Find the smaller of {a} and {b}. | Find the minimum of {a} and {b}. |
Find the lesser one: {a} or {b}. | Name the smaller number: {a}, {b} | Name the lower of {a} and {b}. |
Take the smaller of {a} and {b}. | Give me the smaller number of {a} and {b}. | Give me the lower one: {a}, {b} |
Give me the minimum of {a} and {b}. | Tell me which number is smaller, {a} or {b}. |
Tell me which is less: {a} or {b}. | Tell me the smaller of {a} and {b}. | Tell me the lower number: {a}, {b} |
Say which is smaller, {a} or {b}. | Say which number is lower: {a}, {b} | Say the lesser of {a} and {b}. |
Compare {a} and {b}. Which is lower? | Compare {a} with {b}: which one is less? |
Compare {a} with {b} and name the smaller. | Compare the numbers {a} and {b}. Which is less? |
Can you tell me which number is lower: {a} or {b}? | Could you say which is less, {a} or {b}? |
Do you know which is smaller, {a} or {b}? | Do you know what is less, {a} or {b}? |
I have {a} and you have {b}. Which is less? | I have {a} and {b}. Which number is smaller? |
I have two numbers, {a} and {b}. Which is lower? | I have two numbers: {a}, {b}. Give me the smaller one. |
There are two numbers, {a} and {b}. Which is smaller? | I want the smaller of {a} and {b}. |
I want to know which is lower, {a} or {b}. | I need the smaller number: {a} or {b}? |
I need the lower of {a} and {b}. | Two numbers: {a}, {b}. The smaller? |
Two numbers: {a} and {b}. Which one is lower? | Should I take {a} or {b} if I want less? |
Look at {a} and {b}. Which is smaller? | And of {a} and {b}, which is lower?""")
THINK = phrases("""Think before you answer. | Think step by step. | /think | Think first, then answer. |
Reason before answering. | You are a helpful assistant. Think before you answer. |
Always think step by step. | Use thinking. |
Please think first. | Think carefully before you answer. | You think before you answer. |
Write down your thoughts first. | First think, then answer. | Think about each question. |
Use a thought before each answer. | Show your thinking. | Take a moment to think. | Reason step by step. |
Think. | Think about it before you answer. | Think before each answer. | Think before every answer. |
Think and then answer. | Think and write your thoughts before the answer. | Think about every question first. |
Think in steps. | Think in steps, then answer. | Think out loud before you answer. | Think out loud. |
Think slowly and step by step. | Think carefully. | Think carefully, then answer. | Think hard before answering. |
Think first and answer after that. | Please think before answering. | Please reason step by step before you answer. |
Please write down your thinking. | Please use thinking for every answer. |
Please show your thoughts before the answer. | Always think first. | Always think before answering. |
Always reason step by step. | Always reason before you answer. | Always write your thoughts first. |
Always use a thought. | Always show your thinking. | Always take time to think. | Never answer without thinking. |
Never answer without a thought. | Do not answer before you think. | Do not answer without thinking first. |
Do your thinking first, then answer. | First think, then say the answer. | First reason, then answer. |
First write your thoughts, then the answer. | First show your reasoning, then answer. | Before you answer, think. |
Before you answer, think step by step. | Before each answer, think. | Before each answer, write your thoughts. |
Before answering, think carefully. | Before answering, reason step by step. | Reason first. |
Reason first, then answer. | Reason carefully before you answer. | Reason in steps. |
Reason about every question before you answer. | Use step by step reasoning. | Use reasoning before each answer. |
Use thoughts. | Use thinking for each answer. | Use your thinking before you answer. |
Write your thoughts before you answer. | Write your reasoning first. | Write a thought before each answer. |
Write down your reasoning step by step. | Write out your thinking, then the answer. | Show your reasoning. |
Show your reasoning before the answer. | Show your thoughts step by step. | Show how you think. |
Show each step of your thinking. | Take your time and think. | Take your time to think before you answer. |
Take a moment to reason before each answer. | Take time for thinking. | Go step by step. | Go step by step and think. |
Answer after thinking. | Answer after you have thought about it. | Answer only after thinking step by step. |
Your thinking comes first, then the answer. | Each answer needs a thought. | Every answer needs thinking first. |
You think step by step. | You think first and then answer. | You think before each answer. | You always think first. |
You always reason before you answer. | You reason step by step. | You write down your thoughts before you answer. |
You are an assistant that thinks before it answers. | You are an assistant that thinks step by step. |
You are a careful assistant. Think step by step. | You are a helpful assistant. Think step by step. |
You are a helpful assistant. Always think first. | You are a helpful assistant. Reason before you answer. |
You are a thinking assistant. | You are a thinking model. Think first. | Thinking is on. | Thinking mode. |
Thinking: on | Thinking mode: on | Turn thinking on. | Turn on thinking. | Switch thinking on. | Enable thinking. |
Reasoning: on | Let us think before we answer. | I want to see your thoughts. |
I want to see your reasoning before the answer.""")


SOFT_SWITCHES = (" /think", " Think first.", " Think step by step.")


def _thought(ones: str, tens: str, whole: str) -> str:
    return f"ones: {ones}\ntens: {tens}\n{whole}"


def _sum_thought(a: int, b: int) -> str:
    low, high = a % 10 + b % 10, a // 10 + b // 10
    carried = f", + 1 = {high + 1}" if low > 9 else ""
    return _thought(f"{a % 10} + {b % 10} = {low}", f"{a // 10} + {b // 10} = {high}{carried}", f"{a} + {b} = {a + b}")


def _difference_thought(a: int, b: int) -> str:
    low, high = a % 10 - b % 10, a // 10 - b // 10
    ten, borrowed = (10, f", - 1 = {high - 1}") if low < 0 else (0, "")
    ones = f"{ten + a % 10} - {b % 10} = {ten + low}"
    return _thought(ones, f"{a // 10} - {b // 10} = {high}{borrowed}", f"{a} - {b} = {a - b}")


def _operands(source: Source, mark: str) -> tuple[int, int]:
    low, high = source.any(((0, 9), (0, 99), (10, 99), (10, 99), (10, 99)))

    def make() -> str:
        first, second = source.integer(low, high), source.integer(low, high)
        if mark == "-":
            first, second = max(first, second), min(first, second)
        return f"{first}{mark}{second}"

    first, second = source.fresh(make).split(mark)
    return int(first), int(second)


def sum_round(source: Source) -> tuple[str, str, str]:
    """A question, its thought and its answer."""
    if source.chance(0.5):
        a, b = _operands(source, "+")
        return worded(source, SUMS, a=a, b=b), _sum_thought(a, b), f"{a} + {b} = {a + b}"
    a, b = _operands(source, "-")
    return worded(source, DIFFERENCES, a=a, b=b), _difference_thought(a, b), f"{a} - {b} = {a - b}"


def make_sums(source: Source) -> Sample:
    """One to twelve sums; a thought is asked for by the system prompt, by the user or by nobody, or forbidden."""
    style = source.any(("plain", "plain", "plain", "forbidden", "system", "system", "user"))
    asked_by_system = style == "system" or (style == "forbidden" and source.chance(0.5))
    turns: list[Message] = [system(source.one(THINK))] if asked_by_system else []
    answer = ""
    for _ in range(source.integer(1, 5) if style in ("system", "user") else source.integer(2, 12)):
        question, thought, answer = sum_round(source)
        thinks = style == "system" or (style == "user" and source.chance(0.7))
        soft = source.any(SOFT_SWITCHES) if thinks and style == "user" else ""
        turns += [user(question + soft), assistant(answer, thought if thinks else None)]
    thinks = "reasoning_content" in turns[-1]
    task = "sums with thinking" if thinks else "sums"
    return Sample(task, tuple(turns), Check("exact", answer), thinking=False if style == "forbidden" else None)


def make_comparison(source: Source) -> Sample:
    turns: list[Message] = []
    answer = ""
    for _ in range(source.integer(1, 8)):
        a, b = source.random.sample(range(100), 2)
        larger = source.chance(0.5)
        answer = str(max(a, b) if larger else min(a, b))
        turns += [user(worded(source, LARGER if larger else SMALLER, a=a, b=b)), assistant(answer)]
    return Sample("comparisons", tuple(turns), Check("exact", answer))
