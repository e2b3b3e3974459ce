"""Everyday tools that draw by chance: dice, coins and passwords."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, amount, number
from tools.tiny.text.lookup_fields import RESULT
from tools.tiny.text.source import phrases

ROLL_DICE = Concept(
    phrases("""roll_dice | dice | random_number | roll | throw_dice | rollDice | throw | random | get_random |
dice_roll | roll_die | randomNumber | die | die_roll | dice_throw | roll_a_die | diceRoll | throwDice |
roll_random | random_roll | random_int | randomInt | draw_number | pick_number | number_roll | cast_dice |
dice_roller | random_pick | cast_die | dieRoll | lucky_number | number_by_chance | toss_die | raffle_draw |
spin_wheel | game_die | dice_caster"""),
    phrases("""Roll a die. | Dice | Returns a random number. | Throw a die | Random number. | Rolls dice. |
Roll dice. | Rolls a die. | Throws a die with any number of sides. | A random number | Gives a random number. |
Dice roller | Throw dice. | Picks a random number. | Roll a die with some sides | Draws a number. |
Random roll. | Returns the roll of a die. | Throws the dice. | Die with any number of sides. |
Roll for a number. | Makes a random number."""),
    (
        Field(
            ("sides", "max", "faces", "n", "maximum", "number_of_sides", "highest", "limit"), "integer", number(4, 100)
        ),
    ),
    phrases("""Roll a die with {0} sides. | Throw a {0} sided die. | Random number up to {0}. | Roll a d{0}. |
Give me a number from 1 to {0}. | Roll the dice, {0} sides. | Pick a random number below {0}. |
Please roll a {0} sided die. | I need a random number up to {0}. | Roll {0}. | Dice with {0} sides, please. |
Throw the dice with {0} sides. | Choose a number from 1 to {0}. | Let the die with {0} sides roll. |
A d{0}, please. | Random: 1 to {0} | Draw a number up to {0}. | Can you roll a die with {0} sides? |
Could you roll a {0} sided die? | roll d{0} | roll a die {0} sides | random number 1 to {0} | dice {0} sides |
Roll one die that has {0} sides. | Roll me a number from 1 to {0}. | Roll a number up to {0}. |
Roll the {0} sided die for me. | Roll between 1 and {0}. | Throw a die with {0} sides. | Throw a d{0}. |
Throw me a die. It has {0} sides. | Throw a dice of {0} sides. | Give me a random number from 1 to {0}. |
Give me a random number. At most {0}. | Give me a roll of a d{0}. | Pick a number from 1 to {0}. |
Pick a random number between 1 and {0}. | Pick any number up to {0}. | Choose a random number up to {0}. |
Choose a number between 1 and {0} at random. | Draw a random number from 1 to {0}. |
Draw a number between 1 and {0}. | I need a roll of a {0} sided die. | I need a number between 1 and {0}. |
I want to roll a d{0}. | I want a random number from 1 to {0}. | I'd like to throw a {0} sided die. |
I'd like a random number. The highest is {0}. | My die has {0} sides. Roll it. |
The die has {0} sides. Throw it. | Our game uses a d{0}. Roll it. | We play with a {0} sided die. Throw it. |
Would you throw the d{0}? | Let's roll a d{0}. | Let's throw a die with {0} sides. |
Let me have a number from 1 to {0}. | Random number, please, from 1 to {0}. |
A random number up to {0}, please. | A roll of a die with {0} sides, please. | Die with {0} sides: roll it. |
Dice roll, {0} sides. | Cast a die of {0} sides. | Give me a lucky number from 1 to {0}. |
Draw a number between one and {0}. | Chance decides: 1 to {0} | Any number up to {0}, at random. |
Pick at random from 1 to {0}. | My board game needs a die with {0} sides. | {0} sides on the die. Roll! |
Use a die with {0} faces. | Shake the die, it has {0} sides. | What does a die with {0} sides show? |
It is my turn to roll. The die has {0} sides. | Surprise me with a number between 1 and {0}. |
Randomly choose a number below or equal to {0}. | Please cast the die, {0} faces. |
Throw it: a die with {0} sides | I play a game with a die of {0} sides. Throw it. | A random draw from 1 to {0}. |
Let the dice decide, {0} sides. | One throw of a die with {0} faces. | A number by chance, at most {0}. |
Roll for me, sides: {0} | Generate a random integer up to {0}. | Raffle: draw a number from 1 to {0} |
Spin a wheel with {0} numbers. | Give me some chance value from 1 to {0}. |
The wizard rolls a die with {0} sides. | Toss a die that has {0} sides. | Dice: {0} faces, one throw |
Which number comes up on a die with {0} faces?"""),
    (Outcome(("roll", *RESULT), amount(1, 100), "{}"),),
    "You rolled {o}.",
)

MAKE_PASSWORD = Concept(
    phrases("""make_password | generate_password | password | new_password | create_password |
passwordGenerator | password_generator | random_password | makePassword | gen_password | get_password |
password_maker | safe_password | password_new | strong_password | invent_password | generatePassword |
password_create | pick_password | secret_generator | secret_maker | passwordCreate | pass_generator |
login_secret | random_secret | passphrase_make | credential_maker | suggest_password | password_builder |
makeSecret | secure_key | compose_password | generate_passphrase | pw_gen | pwgen | gen_passphrase |
secure_password | build_password | passwd | pw_maker | craft_password | produce_password | passwordBuilder |
login_password | fresh_password | secret_key_gen | propose_password | create_secret | get_passphrase | newSecret |
password_suggestion | pwd_generator | random_credentials"""),
    phrases("""Make a password. | Password generator | Creates a random password. | New password |
Generates a safe password. | Invents a password. | Makes a strong password of some length. |
Generate a password | Creates a password. | Random password. | Password with a number of characters. |
Gives you a new password. | Returns a strong password. | Password maker. | Makes a safe password. |
Create a secret password"""),
    (Field(("length", "characters", "size", "chars", "count", "n"), "integer", number(6, 40)),),
    phrases("""Make a password with {0} characters. | Make me a new password, {0} characters. |
Make a password of length {0}. | Make a safe password. Length: {0}. | Generate a password with {0} characters. |
Generate a safe password of {0} characters. | Generate a random password, length {0}. |
Create a password of {0} characters. | Create a strong password with {0} characters. |
Create a new password. It should have {0} characters. | Can you make a password with {0} characters? |
Can you generate a password of length {0}? | Could you create a password for me? {0} characters. |
Could you invent a password with {0} characters? | password {0} characters | new password {0} |
random password length {0} | I need a password with {0} characters. | I need a new password of length {0}. |
I need a strong password, {0} characters long. | I want a password that has {0} characters. |
I want a safe password of {0} characters. | I'd like a random password with {0} characters. |
I'd like a new password, {0} characters long. | Give me a password of {0} characters. |
Give me a random password. Length {0}. | Give me a strong password with length {0}. |
My password must have {0} characters. Make one. | My new password should be {0} characters long. |
The password should have {0} characters. | The password needs {0} characters. Generate it. |
The site wants a password with {0} characters. | They want a new password of {0} characters. Create one. |
Invent a password of length {0}. | Invent a safe password with {0} characters. |
Think of a password with {0} characters. | Pick a random password of {0} characters. |
Pick a password for me, {0} characters. | New password, {0} characters, please. |
New password of length {0}, please. | A password with {0} characters, please. |
A safe password of length {0}, please. | A {0} character password, please. | Password of {0} characters |
Password, length {0} | Random password: {0} characters | With {0} characters, make a strong password. |
Would you generate a {0} character password? | Let me have a new password with {0} characters. |
Set up a password of {0} characters for me. | My login needs a secret with {0} characters. |
I register somewhere. Password with {0} characters, please. | Invent a password of {0} letters. |
Think up a password, {0} characters long. | A secure secret of {0} characters. |
Something nobody guesses, {0} characters: a password | Give me a login password, length {0}. |
Passphrase with {0} characters, please. | Secret key for my account, {0} characters. |
Come up with a password of {0} characters. | Suggest a password that has {0} characters. |
I forgot my password. Make one with {0} characters. | Password length {0}, random. |
Let me have a password that is {0} long. | For my email account: a password with {0} characters |
The site wants a password of {0} signs. Create one. | {0} random characters as a password. |
A fresh password, {0} characters. | Produce a password having {0} characters. |
Build me a password from {0} characters. | Mix up a password of {0} characters. |
Wifi password of {0} characters, please. | Randomise a password of {0} characters. |
Make the new password {0} characters long. | Lock my account with a password of {0} characters. |
A hard password, {0} characters. | I want a code word of {0} characters for my login. |
Time for a new login secret, {0} characters. | Generate login credentials: password, {0} characters |
Compose a password: {0} characters | The login requires a {0} character password. | pwd length {0} |
I wish to have a secure password, {0} characters. | yo make me a {0} char pw | gen password len {0} |
Using {0} characters, compose a password. | Whip up a {0} character password. | secure password {0} |
Suggest a secure password, {0} characters long. |
Because I'm registering somewhere, I need a {0} character password. |
Choose a secure password for me, {0} characters. | Write me a password that is {0} characters long. |
Assemble a password from {0} random characters. | Password generator: {0} characters |
Supply a random login password, {0} chars. | Construct an uncrackable password using {0} characters. |
Can I get a secure password of {0} characters? | To be safe online, I want a {0} character password. |
As I open a new account, suggest a password, length {0}. | Replace my old password by one with {0} characters."""),
    (Outcome(("password", "secret", "value", "result"), words.syllables, "{}"),),
    "Your new password is {o}.",
)

FLIP_COIN = Concept(
    phrases("""flip_coin | coin | coin_flip | toss_coin | flipCoin | flip | toss | coin_toss | throw_coin |
flip_a_coin | heads_or_tails | tossCoin | coinFlip | coin_throw | toss_a_coin | get_coin | coin_side |
coinToss | flip_one | heads_tails | penny_flip | coin_decider | toss_penny | spin_coin | coinFlipper |
head_or_tail | random_side | flip_penny | choose_side | two_sided_toss | headsOrTails | fifty_fifty |
coin_decision | perform_toss | simulate_coin | tossUp | binary_chance | chuck_coin | do_coin_flip | coin_call |
heads_or_tails_game | launch_coin | coinDecider | flip_quarter | virtual_coin | run_coin_toss | pick_side"""),
    phrases("""Flip a coin. | Heads or tails | Tosses a coin. | Coin flip | Flips a coin. |
Throws a coin: heads or tails. | Toss a coin | Coin toss. | Returns heads or tails. | Gives heads or tails. |
Shows one side of a coin. | Throw a coin | Flips a coin for you. | Which side the coin shows. |
Heads or tails at random. | Use this to flip a coin."""),
    (),
    phrases("""Flip a coin. | Toss a coin. | Throw a coin. | Heads or tails? | Can you flip a coin? |
Can you toss a coin for me? | Could you throw a coin? | Could you flip a coin for us? | flip a coin |
heads or tails | coin flip | toss coin | I need a coin flip. | I need a coin toss. | I need heads or tails. |
I want to flip a coin. | I want you to toss a coin. | I'd like you to throw a coin. | I'd like a coin flip. |
I can't decide. Flip a coin. | I can't decide. Heads or tails? | We can't decide. Toss a coin. |
We need a coin toss. | We let a coin decide. Throw it. | Let a coin decide. |
Let a coin decide for us: heads or tails? | Let's flip a coin. | Let's toss a coin. | Let us throw a coin. |
Let the coin fly. | Do a coin flip. | Do a coin toss. | Make a coin flip for me. | Give me heads or tails. |
Tell me heads or tails. | Take a coin and flip it. | Take a coin and throw it. | Use a coin: heads or tails? |
Which side does the coin show? | Which side of the coin is up? Flip it. |
What does the coin say, heads or tails? | What will the coin show? Toss it. | A coin flip, please. |
A coin toss, please. | Coin toss! | Coin: heads or tails | Is it heads or is it tails? |
Would you flip a coin? | Would you toss the coin? | The coin decides. Flip it. |
The coin decides: heads or tails. | Time to toss a coin. | I cannot decide. Throw a coin. | Spin a coin. |
Heads or tails, you decide by coin. | Coin, please: heads or tails? | Let us settle it with a coin. |
Throw the penny. | Flip a penny for me. | Do the coin thing: heads or tails. | Which side does the coin land on? |
Give the coin a flip. | Who starts? Toss a coin. | We need a coin to decide. | Heads I win. Flip it. |
Call it in the air: flip! | Chuck a coin. | Make a coin toss for the match. | Let the coin fall. |
Leave it to a coin. | Coin toss for the kick-off, please. | Try a coin: heads or tails? |
Would you throw a coin? | A penny decides. Flip it. | Head or tail? Flip and tell me. | Have a coin flipped. |
Up goes the coin. What is it? | The coin decides who pays. | Show me the result of a coin flip. |
Settle our bet: flip a coin | Can we flip a coin on it? | Launch a coin into the air. | How does the coin land? |
Heads we win, tails we lose. Toss it. | My head is undecided, so flip a coin. | Call the coin toss. |
heads / tails | Give me a coin toss. | Give us heads or tails. | Head or tail? | Show me how the coin lands. |
Toss up a coin for us. | Since both choices seem fine, toss a coin. | Coin flip to see who starts. |
Pick heads or tails at random. | Flip a penny. | How about a coin toss? | Will it be heads or tails? |
Flip it: heads or tails? | flip coin asap | gimme heads or tails | There are two options. Let the coin choose."""),
    (Outcome(("side", "coin", "result", "flip", "shows"), lambda s: s.any(("heads", "tails")), "{}"),),
    "The coin shows {o}.",
)
