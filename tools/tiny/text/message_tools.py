"""Everyday tools that write to somebody or keep something written."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, amount, listing, number, pick, text
from tools.tiny.text.lookup_fields import PERSON, TASK
from tools.tiny.text.source import phrases

SEND_EMAIL = Concept(
    phrases("""send_email | email | mail | send_mail | sendEmail | compose_email | email_send | new_email |
write_email | mail_send | email_to | deliver_email | write_mail | email_message | emailSend | mailTo |
outgoing_mail | post_email | send_an_email | sendMail | dispatch_email | mailer | email_person | start_email |
email_client | quick_email | gmail_send | compose_mail | emailDispatch | reply_by_mail | send_letter |
write_to_address | e_mail | deliver_mail | smtp_send | postMail | contact_by_email | submit_email"""),
    phrases("""Send an email. | Sends a mail | Send a message by email. | Email somebody | Mail a text. |
Sends an email. | Write an email | Compose and send an email. | Sends an email to an address. |
Mails a text to someone | Email tool. | Send mail | Sends one mail to one recipient. | Emails a person. |
Deliver an email to an address | Outgoing mail. | Use this to email people. | Mail somebody a message. |
Lets you write an email. | Sends text to an email address. | New email | Writes and sends a mail."""),
    (
        Field(
            ("to", "recipient", "address", "email", "receiver", "mail_to", "to_address", "email_address", "send_to"),
            "string",
            text(words.email),
        ),
        Field(
            ("body", "text", "message", "content", "subject", "email_text", "message_text", "mail_body"),
            "string",
            text(words.activity),
        ),
    ),
    phrases("""Send an email to {0}: {1} | Email {0} and say: {1} | Write to {0}: {1} | Mail {0} this: {1} |
Send {0} an email that says: {1} | Please email {0}: {1} | Send a mail to {0} with the text: {1} |
Tell {0} by email: {1} | Email to {0}: {1} | Let {0} know by mail: {1} | Compose an email to {0}: {1} |
Drop {0} a mail: {1} | New mail to {0}: {1} | {0} should get this mail: {1} | Send {0} this text by email: {1} |
Answer {0} by mail: {1} | I must email {0}: {1} | Can you send an email to {0} that says: {1} |
Could you email {0} for me? The text is: {1} | I need to send an email to {0}. It should say: {1} |
Shoot {0} a quick email: {1} | Write an email to {0}. Text: {1} | email {0} {1} | mail to {0}: {1} |
Send "{1}" to {0} by email. | Email "{1}" to {0}. | Mail "{1}" to {0}. | Get an email out to {0}: {1} |
Fire off an email to {0}: {1} | {0} is waiting for my email. Write: {1} |
Let the person at {0} know by email: {1} | The address is {0}. Email this: {1} |
Here is the address: {0}. Send this mail: {1} | I want an email to go to {0}. It says: {1} |
I'd like to email {0}: {1} | Would you drop an email to {0}? It should read: {1} | Email for {0}: {1} |
New email, recipient {0}, text: {1} | Recipient: {0}. Email text: {1} | Mail for {0}: {1} |
Forward this by email to {0}: {1} | Reply to {0} by email: {1} | I have to mail {0} this text: {1} |
Start a new email to {0} with the words: {1} | By email to {0}: {1} | "{1}" is the text. Email it to {0}. |
Say this to {0} in an email: {1} | Put this in an email to {0}: {1} | Let's email {0}: {1} |
Can {0} get an email that says: {1} | Please write a short mail to {0}: {1} | My email to {0} should say: {1} |
Quick mail to {0}: {1} | Shoot an email over to {0}: {1} | Inform {0} by email: {1} |
Contact {0} by mail and say: {1} | The inbox of {0} should get this: {1} | Let {0} know by email: {1} |
Write to the address {0}: {1} | Please notify {0} by email: {1} | Compose a mail for {0}: {1} |
Draft and send to {0}: {1} | Address {0}, text {1} | Reply to {0}: {1} | Get this to {0} by email: {1} |
Pass this on to {0}: {1} | Mail goes to {0}. It says: {1} | To {0}, by email: {1} | Deliver by email to {0}: {1} |
Tell {0} by mail: {1} | Send off a mail to {0}: {1} | Post this to {0}: {1} | Dispatch an email to {0}: {1} |
Let's write to {0}: {1} | Could {0} get this mail? {1} | E-mail with the text {1} for {0}. |
Put this in a mail to {0}: {1} | Mail recipient: {0}. Mail text: {1} | Please reach {0} by email. Text: {1}"""),
    (Outcome(("status", "state", "sent"), lambda s: s.any(("sent", "ok", "delivered", "queued")), "{}"),),
    "The email to {0} is {o}.",
)

SEND_MESSAGE = Concept(
    phrases("""send_message | message | text_contact | sms | send_sms | notify | sendMessage | chat_send |
text_message | new_message | write_message | text_person | send_text | message_send | textMessage | send_chat |
post_message | direct_message | dm | instant_message | sms_send | message_contact | send_direct_message |
tell_contact | deliver_message | sendSms | chat_message | notify_person | quick_message | chat_with |
tell_person | relay_message | inform_person | messenger_send | write_to_person | drop_line | contactPerson |
pass_message | reach_person"""),
    phrases("""Send a message to a person. | Text somebody | Sends a text message. | Message a contact |
Send a text. | Sends a note to a contact. | Send a message | Sends a message to someone. | Text a person. |
Sends a text to a contact | Messages somebody. | Chat message | Sends an SMS. | SMS to a contact |
Write to a person. | Short message service. | Tells a contact something. | Notify a person. |
Sends a short text to a person. | Message tool. | Lets you text people. | Delivers a message to a contact."""),
    (PERSON, TASK),
    phrases("""Send {0} a message: {1} | Text {0}: {1} | Message {0}: {1} | Tell {0}: {1} | Write {0} this: {1} |
Send this to {0}: {1} | Let {0} know: {1} | Please tell {0} this: {1} | Message to {0}: {1} |
Send {0} this text: {1} | A text to {0}: {1} | Say to {0}: {1} | {0} should know this: {1} | Inform {0}: {1} |
Drop {0} a message: {1} | Pass this on to {0}: {1} | I want to tell {0}: {1} | Can you text {0}? Say: {1} |
Could you send {0} a message that says: {1} | Shoot {0} a text: {1} | text {0} {1} | message {0} {1} |
Send a text to {0}: {1} | I need to message {0}: {1} | I want to text {0} this: {1} | Ping {0} with this: {1} |
Send "{1}" to {0}. | Text "{1}" to {0}. | Message for {0}: {1} | {0} needs to hear this: {1} |
Give {0} this message: {1} | Write a message to {0}: {1} | Write to {0} that they should {1}. | Tell {0} to {1}. |
Remember to tell {0} this. Send it now: {1} | Can you tell {0} something for me? {1} |
{0} has to {1}. Send a message. | A short text for {0}: {1} | SMS to {0}: {1} | Send an SMS to {0}. Text: {1} |
Get word to {0}: {1} | Let {0} know they have to {1}. | Make sure {0} gets this message: {1} |
My message to {0} is: {1} | {0} should {1}. Text that. | I'd like to send {0} a text: {1} | Contact {0} and say: {1} |
Quick message to {0}: {1} | Ask {0} to {1}. | Would you message {0} and say: {1} |
Please write {0} a text message: {1} | Chat message to {0}: {1} | The message is "{1}". It goes to {0}. |
Ping {0}: {1} | Can you ping {0}? Tell them: {1} | {0} wants to hear from me. Write: {1} | Let {0} hear this: {1} |
Chat with {0}: {1} | Whisper to {0}: {1} | Write {0} on the messenger: {1} | Send an SMS to {0}: {1} |
{0} must hear this: {1} | Reach out to {0}: {1} | Give {0} a note: {1} | Answer {0}: {1} | Reply to {0} with: {1} |
DM {0}: {1} | Drop {0} a line: {1} | Tell my friend {0}: {1} | Ask {0} this: {1} | Have {0} told: {1} |
Buzz {0}: {1} | News for {0}: {1} | In the chat with {0}, write: {1} | Please get word to {0}: {1} |
Notify {0} of this: {1} | Type to {0}: {1} | I want {0} to read this: {1} | Deliver to {0}: {1} |
Quick chat to {0}: {1} | Relay this to {0}: {1} | message {0}: {1} | text {0}: {1} | msg {0} {1} | sms {0} {1} |
sms to {0}: {1} | write {0} {1} | notify {0} {1} | dm {0} {1} | chat {0} {1} | send {0} {1} | send {0} the text {1} |
ping {0}: {1} | notify {0}: {1} | a message to {0}: {1} | message to {0} {1} | text to {0}, {1} | Message {0} {1} |
Text {0} {1} | Ping {0} and say: {1} | Ping {0} with the words: {1} | Poke {0} with this: {1} |
Reach {0} with this: {1} | Send {0} this: {1} | Send {0} the words: {1} | Hit {0} up with this: {1} |
Come on, tell {0}: {1} | For {0}, by text: {1} | To {0}: {1} | To {0}, as a message: {1} | By text to {0}: {1} |
By SMS to {0}: {1} | By chat to {0}: {1} | {0} gets this message: {1} | {0} gets this text: {1} |
{0} needs this text: {1} | Make sure {0} knows this: {1} | See that {0} reads this: {1} | Warn {0}: {1} |
Let us text {0}: {1} | Text this to {0}: {1} | Message text for {0}: {1}"""),
    (Outcome(("status", "state", "delivery"), lambda s: s.any(("sent", "ok", "delivered", "queued")), "{}"),),
    "The message to {0} is {o}.",
)

SAVE_NOTE = Concept(
    phrases("""save_note | write_note | note | take_note | add_note | memo | saveNote | new_note | note_add |
keep_note | store_note | make_note | noteSave | createNote | create_note | noteTaker | notes_add | put_note |
jot_down | keep_text | save_text | note_down | memo_save | write_memo | note_save | addNote | quick_note |
new_memo | notebook_add | scribble | notepad_add | notebook_entry | jotDown | capture_idea | pin_note |
sticky_note | file_note | noteSaver | thought_store | dictate_note | record_thought | notesAppend"""),
    phrases("""Save a note. | Notes | Writes a note. | Keep a text | Takes a note. | Remembers a text. |
Note something down. | Saves a note. | Note | Stores a note. | Write down a text | Keeps a note. | Note taker. |
Adds a note. | Notes and memos. | Saves a text as a note. | Memo | Creates a note. | Jots down a text. |
Write a memo. | Store a text for later | New note."""),
    (
        Field(
            ("text", "note", "content", "body", "message", "memo", "note_text", "words"), "string", text(words.phrase)
        ),
    ),
    phrases("""Note: {0} | Save a note: {0} | Write down: {0} | Take a note: {0} | Please note this: {0} |
Keep this: {0} | Make a note that says {0} | Jot down {0} | New note: {0} | Remember this: {0} | Do not forget: {0} |
Store this text: {0} | Please save this: {0} | A note for me: {0} | Add to my notes: {0} | I want to note {0} |
Notes: {0} | Can you note this? {0} | Could you write this down? {0} | Can you take a note: {0} | note {0} |
save note {0} | new note {0} | memo: {0} | Memo to me: {0} | Write a note: {0} | Write me a note: {0} |
Write a memo: {0} | Write this down: {0} | Write this in my notes: {0} | Write a note that says: {0} |
Save this text: {0} | Save this as a note: {0} | Save the following note: {0} | Save {0} as a note. |
Save {0} in my notes. | Put {0} in my notes. | Put this in the notes: {0} | Put down: {0} | Keep a note of this: {0} |
Keep {0} as a note. | Keep this in my notes: {0} | Make a note: {0} | Make a note of {0}. | Make a memo of this: {0} |
Note down: {0} | Note for later: {0} | Note to self: {0} | Note {0} for me. | Take this down: {0} |
Take down a note. It says: {0} | Store a note: {0} | Create a note: {0} | Create a new note with the text {0} |
Add a note: {0} | Add this to my notes: {0} | I need a note that says {0} | I need to write this down: {0} |
I'd like to save a note: {0} | I want to keep this in my notes: {0} | Let me note this: {0} | For my notes: {0} |
Please jot this down: {0} | My note is: {0} | Put this on paper: {0} | Scribble this: {0} | Into the notebook: {0} |
My notebook should say: {0} | Keep a record: {0} | Notebook entry: {0} | Idea to keep: {0} |
I had an idea: {0}. Note it. | On my notepad: {0} | Notepad: {0} | Post-it: {0} | Add this to my notebook: {0} |
Capture this thought: {0} | Save these words: {0} | Archive this thought: {0} | Put down in writing: {0} |
This should not get lost: {0} | Log this in my journal: {0} | Journal: {0} | File this note: {0} |
Write a sticky note: {0} | Stick this in my notes: {0} | Preserve this text: {0} | Store a memo: {0} |
Worth keeping: {0}. Put it in the notes. | Could you file a note? {0} | Here is a thought for the notebook: {0} |
Type this into my notes: {0} | I dictate a note: {0} | Please save this text: {0} | Please save the following: {0} |
Please save it: {0} | Please save this for me: {0} | Please save this note: {0} | Please store this: {0} |
Please keep this text: {0} | Please write this: {0} | Please write down: {0} | Please put this down: {0} |
Save this for me: {0} | Save this, please: {0} | Save it: {0} | Save the words: {0} | Keep this for me: {0} |
Keep it: {0} | Store this, please: {0} | Store it: {0}"""),
    (Outcome(("status", "state", "note"), lambda s: s.any(("saved", "ok", "stored")), "{}"),),
    "The note is {o}.",
)

ADD_TAGS = Concept(
    phrases("""add_tags | tag | label | set_tags | tag_item | add_labels | setTags | tags | put_tags | tag_add |
label_item | update_tags | addTags | tagger | labeler | apply_tags | attach_tags | set_labels | assign_tags |
tag_object | tagItem | tag_entry | put_labels | labels_add | tag_set | mark_item | apply_labels | tagging |
classify_item | label_entry | assignTags | keyword_add | set_keywords | annotate_item | hashtag_add | categorize |
attach_labels | itemLabels | index_under | sort_under"""),
    phrases("""Add tags to an item. | Tagging | Sets the tags. | Label an item | Tags things. | Attach labels. |
Tag an item. | Adds tags. | Tags | Puts labels on an item. | Set the tags of an item | Labels an item. |
Adds labels to an item. | Tag something | Gives tags to an item. | Mark an item with tags. |
Attaches tags to an item. | Item labels. | Sets the labels of an item. | Tags one item. | Assigns tags. |
Label things."""),
    (
        Field(("id", "item", "code", "target", "key", "item_id", "object", "entry"), "string", text(words.identifier)),
        Field(
            ("tags", "labels", "list", "values", "words", "tag_list", "names", "new_tags"),
            "array",
            listing(pick(words.COMMON)),
        ),
    ),
    phrases("""Tag {0} with {1}. | Label {0} as {1}. | Add the tags {1} to {0}. | Put {1} on {0}. |
Give {0} the tags {1}. | Please tag {0}: {1} | Set the labels of {0} to {1}. | {0} gets the tags {1}. |
Attach {1} to {0}. | Mark {0} with {1}. | Tags for {0}: {1} | Use the tags {1} for {0}. |
{0} should have the tags {1}. | For {0} set the tags {1}. | Put the labels {1} on {0}. | Label {0} with {1}. |
The item {0} needs the tags {1}. | Can you tag {0} with {1}? | Could you add the tags {1} to {0}? |
tag {0} {1} | tags {1} for {0} | label {0} {1} | Tag {0} as {1}. | Tag the item {0} with {1}. |
Tag the item {0}: {1} | Add {1} as tags to {0}. | Add {1} to the tags of {0}. | Add the labels {1} to {0}. |
Add tags to {0}: {1} | Add labels to the item {0}: {1} | Put the tags {1} on {0}. |
Put the tags {1} on the item {0}. | Put these labels on {0}: {1} | Set the tags of {0} to {1}. |
Set {1} as the tags of {0}. | Set the tags {1} for the item {0}. | Attach the tags {1} to {0}. |
Attach the labels {1} to {0}. | Attach these tags to {0}: {1} | Give the item {0} these tags: {1} |
Give {0} the labels {1}. | Mark the item {0} as {1}. | Mark {0} with the tags {1}. |
I want to tag {0} with {1}. | I want the labels {1} on {0}. | I need the tags {1} on {0}. |
I'd like to label {0} with {1}. | The tags of {0} should be {1}. | The labels for {0} are {1}. Set them. |
The item {0} should get the labels {1}. | {0} needs the labels {1}. | {0} needs these tags: {1} |
{1} are the tags for {0}. | Label the item {0} with {1}. | Label {0} with these words: {1} |
Labels for {0}: {1} | Would you put the labels {1} on {0}? | Let {0} have the tags {1}. |
Assign the tags {1} to {0}. | Assign {1} to {0} as labels. | For the item {0}, use the labels {1}. |
Item {0} belongs under {1}. | Sort {0} under {1}. | Classify {0} as {1}. | File {0} under {1}. |
Hang the labels {1} on {0}. | {0} is about {1}. Label it. | Categorise {0}: {1} | Stick {1} on {0}. |
Annotate {0} with {1}. | Mark up {0}: {1} | {1} should be tags of {0}. | Object {0}, tags {1}. |
Describe {0} by the tags {1}. | {0} shall carry {1}. | Equip {0} with the tags {1}. |
The keywords of {0} are {1}. | Make {0} findable under {1}. | Assign {1} to {0}. |
Assign the labels {1} to the item {0}. | Record {0} gets {1} as tags. | Pin {1} on {0}. | Hashtags for {0}: {1} |
Label entry {0}: {1} | I want {0} filed under {1}. | Set the keywords of {0} to {1}. |
Would you classify {0} as {1}? | Index {0} under {1}. | Note the tags of {0}: {1}"""),
    (Outcome(("status", "state", "tags"), lambda s: s.any(("done", "ok", "saved")), "{}"),),
    "The tags of {0}: {o}.",
)

SAVE_CONTACT = Concept(
    phrases("""save_contact | add_contact | new_contact | create_contact | saveContact | contact_add |
store_contact | add_phone | save_phone | addContact | save_number | contact_save | put_contact | store_number |
add_to_phone_book | contact_create | newContact | add_phone_number | contacts_add | keep_contact | phonebook_add |
addressbook_entry | contactCreate | keep_number | contact_insert | register_contact | phone_save | card_add |
add_person | save_phone_number | contactCard | insert_person | addPhonebook | number_store | enter_contact"""),
    phrases("""Save a contact. | New contact | Adds a person to the contacts. | Stores a phone number. |
Add a contact | Saves the phone number of a person. | Contacts | Puts a person in the phone book. |
Create a contact. | Adds a number to the phone book. | Creates a new contact. |
Add a person with a phone number. | Keeps a phone number. | Save somebody's number | Saves a new number. |
Stores contacts."""),
    (
        PERSON,
        Field(
            ("phone", "phone_number", "tel", "mobile", "number", "telephone"),
            "string",
            text(lambda s: s.fresh(lambda: str(s.integer(100000, 999999)))),
        ),
    ),
    phrases("""Save the number {1} for {0}. | Save {0} as a contact, number {1}. |
Save {0} with the phone number {1}. | Save the phone number of {0}: {1} | Save the contact {0}: {1} |
Can you save {0}'s number? It is {1}. | Can you add {0} to my contacts? Phone: {1}. |
Could you store the number {1} for {0}? | Could you put {0} in my phone book? The number is {1}. |
save contact {0} {1} | add contact {0} {1} | new contact {0} {1} | New contact: {0}, {1} |
New contact: {0} with the number {1}. | New number of {0}: {1} | Add {0} to my contacts with the number {1}. |
Add {0} to the phone book: {1} | Add the contact {0}. The phone number is {1}. | Add the phone number {1} for {0}. |
Add the number {1} to my contacts. It belongs to {0}. | Create a contact: {0}, phone {1}. |
Create a contact for {0} with the number {1}. | Create a new contact named {0}. Number: {1}. |
Store {0} in my contacts. The number is {1}. | Store {1} as the phone number of {0}. |
Store the number of {0}. It is {1}. | Put {0} in my contacts: {1} | Put the number {1} in the phone book under {0}. |
Put {0} and the number {1} in my contacts. | Keep the number of {0} in my phone: {1} |
{0} has the phone number {1}. Save it. | {0} has a new number: {1}. Save it. |
{0} can be called at {1}. Save the contact. | {0}'s phone number is {1}. Add it to my contacts. |
{1} is the number of {0}. Store it. | {1} is {0}'s phone number. Save the contact. |
The number of {0} is {1}. Put it in my phone book. | The phone number {1} belongs to {0}. Add it. |
My new friend is {0}, phone {1}. Add the contact. | I met {0}. Save the phone number {1}. |
I want to save {0} as a contact. Phone number {1}. | I want {0} in my phone book with the number {1}. |
I need {0} in my contacts, number {1}. | I'd like to add {0} to my contacts. Number {1}. |
Would you save the contact {0}, phone {1}? | Contact: {0}, phone number {1}. Save. |
{0} has a new phone, {1}. Save it. | Phone book entry: {0}, {1} | Remember how to reach {0}: {1} |
My friend {0} can be called at {1}. Add it. | {0} gave me this number: {1} | Into the address book: {0}, {1} |
Address book: {0} with {1} | Keep the number of {0}: {1} | Write {0} into my contacts, phone {1}. |
Register {0} as a contact with {1}. | Make {0} a contact: {1} | Insert {0} in my phone list. Number {1}. |
The phone of {0} is {1}. Store that. | Create a contact card: {0}, {1} | I got the number of {0}. It is {1}. |
Put {1} under {0} in the phone book. | Save {0} in my phone. {1} is the number. |
Dial {1} for {0}. Keep that as a contact. | To call {0} I need {1}. Save it. | Mobile of {0}: {1}. Add to contacts. |
Phone list: {0} = {1} | Note the phone of {0}: {1} | Let me keep {0} as a contact, {1}. |
Record the phone number {1} for {0}. | Could you put {0} with {1} in my contacts? | People to remember: {0}, {1} |
The new neighbour is {0}, phone {1}. Contact, please. | {0}, {1}: new contact, please. |
I want {0} in the phone book, {1}. | I want the number {1} of {0} in my phone book. |
I need {0} in my phone book with the number {1}. | I'd like {0} in my phone book with {1}. |
I want to have {0} in my phone book: {1} | We want {0} in the phone book with the number {1}. |
Put {0} in my phone book with the number {1}. | Get {0} into my phone book with {1}. |
Have {0} in my phone book, number {1}."""),
    (Outcome(("status", "state", "contact"), lambda s: s.any(("saved", "ok", "added", "stored")), "{}"),),
    "The contact {0} is {o}.",
)

PRINT_FILE = Concept(
    phrases("""print_file | print_document | printer | printing | print_copies | printFile | print_job |
send_to_printer | file_print | start_print | print_out | printDocument | document_print | print_paper |
make_copies | printer_job | print_pages | new_print_job | printOut | run_printer | hard_copy | printout |
paper_copy | printJobStart | copies_print | make_printout | printer_queue | laser_print | filePrinter |
output_paper | reproduce_file | press_print | queue_print"""),
    phrases("""Print a file. | Printer | Prints copies of a document. | Sends a file to the printer. |
Print job | Print a document | Prints a file on paper. | Makes paper copies of a file. | Prints a document. |
Starts the printer. | Prints a number of copies. | Copies of a file on paper. | Print copies |
Starts a print job. | Puts a file on paper. | Printing."""),
    (
        Field(
            ("file", "path", "document", "filename", "name"),
            "string",
            text(lambda s: f"{s.one(words.COMMON)}.{s.any(('pdf', 'doc', 'txt', 'png', 'odt'))}"),
        ),
        Field(("copies", "count", "number", "n", "times", "amount"), "integer", number(1, 30)),
    ),
    phrases("""Print {1} copies of {0}. | Print {0}, {1} copies. | Print the file {0}, {1} copies. |
Print the document {0}. Make {1} copies. | Print {0} with {1} copies on paper. |
Can you print {1} copies of {0}? | Can you print {0}? I need {1} copies. |
Could you print the file {0}? {1} copies. | Could I get {1} paper copies of {0}? | print {0} {1} copies |
print {1} copies {0} | printer {0} {1} | I need {1} copies of {0} on paper. |
I need {1} printed copies of {0}. | I need {0} on paper, {1} copies. | I want to print {0}. Copies: {1}. |
I want {1} copies of {0} from the printer. | I'd like {1} printed copies of {0}. |
I'd like to print {1} copies of the file {0}. | We need {1} copies of {0}. Print them. |
We need the document {0} on paper, {1} copies. | Make {1} paper copies of {0}. |
Make {1} copies of the file {0} on the printer. | Make the printer print {0}, {1} copies. |
Send {0} to the printer. {1} copies. | Send {0} to the printer, {1} copies, please. |
Send {1} copies of {0} to the printer. | Send the file {0} to the printer: {1} copies |
The printer should print {1} copies of {0}. | The document {0} must be printed. Copies: {1}. |
The file {0} has to be printed, {1} copies. | {1} copies of {0}, please. | {1} copies of {0} on paper, please. |
{1} paper copies of the document {0}. | {0}: print {1} copies. | {0} to the printer, {1} copies. |
Start the printer: {1} copies of {0} | Start a print job for {0}, {1} copies. | Print job: {0}, {1} copies. |
Printer, {1} copies of the file {0}. | Get me {1} copies of {0} on paper. | Get {0} printed, {1} copies. |
Put {0} on paper. I want {1} copies. | Would you print {0} for me? {1} copies. |
Let me have {1} printed copies of {0}. | Print out {0}. Number of copies: {1}. |
Print out {1} copies of the document {0}. | Hard copy of {0}, {1} times. | Put {0} on paper {1} times. |
I need {0} on paper. Copies: {1}. | Paper version of {0}, {1} copies. | Run off {1} copies of {0}. |
Copy machine: {0}, {1} times | The printer should do {0}. Copies: {1}. | My class needs {1} copies of {0}. |
Duplicate {0} on paper {1} times. | Ink on paper: {0}, {1} copies | Let the printer make {1} copies of {0}. |
Printing {0}: {1} copies, please. | Please make {1} paper copies of {0}. | Have {0} printed {1} times. |
{1} times {0} on paper, please. | The meeting needs {0} printed, {1} copies. |
Reproduce {0} {1} times on the printer. | Number of prints for {0}: {1} | Queue {0} for printing, {1} copies. |
How about {1} printouts of {0}? | {1} printouts of {0}, please. | Feed {0} to the printer. {1} copies. |
Could the printer produce {1} copies of {0}? | Laser print {0}, {1} copies. |
I would like {0} in print, {1} copies. | The file {0} should be printed {1} times. |
Deliver {1} printed copies of {0}."""),
    (
        Outcome(("status", "state", "printer"), lambda s: s.any(("printing", "ok", "queued", "done")), "{}"),
        Outcome(("pages", "sheets", "total_pages"), amount(1, 300), "{} pages"),
    ),
    "{0}, {1} copies: {o}.",
)
