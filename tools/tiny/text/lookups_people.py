"""Lookups about a person: phone number, profile, birthday."""

from tools.tiny.text import words
from tools.tiny.text.catalogue import Concept, Field, Outcome, number
from tools.tiny.text.lookup_fields import PERSON
from tools.tiny.text.source import phrases

CONTACT = Concept(
    phrases("""find_contact | get_phone | phone_book | contact | lookup_phone | phone_number | getPhone | phone |
get_number | find_number | get_contact | contact_lookup | phone_lookup | find_phone_number | get_phone_number |
lookup_contact | phoneLookup | search_contacts | find_phone | contacts | contact_number | address_book |
show_contact | getPhoneNumber | telephone | telephone_number | phonebook | person_phone | digits_of |
addressbook_search | contact_card | number_search | mobile_of | cell_number | person_number | reach_info |
open_contact | dial_lookup | who_is_number | contactSearch | person_entry"""),
    phrases("""Get a phone number. | Phone book | Finds the number of a person. | Contact data | Phone numbers. |
Looks up a contact. | Returns a phone number. | Finds a phone number. | Get the phone number of a person. |
Telephone book | Looks up a phone number. | Phone number of a contact | Find a contact by name. | Contacts |
Phone directory | Returns the phone number of a contact. | Searches the phone book. | Gives the number of somebody. |
Search contacts by name. | Look up a person in the phone book. | Use this to find a phone number. |
Use this tool to find out somebody's number. | Address book with phone numbers | Telephone numbers |
Shows the phone number of a person."""),
    (PERSON,),
    phrases("""What is the phone number of {0}? | Find the number of {0}. | Phone of {0}? | How can I call {0}? |
Look up {0} in the phone book. | I need {0}'s number. | Give me the number of {0}. | Do you have the number of {0}? |
I want to call {0}. | What number has {0}? | Which number does {0} have? | Get the phone number of {0}. |
Number of {0}? | Tell me the phone number of {0}. | I have to phone {0}. | Show me the number of {0}. |
How do I reach {0} by phone? | The number of {0}, please. | What is {0}'s phone number? | What's {0}'s number? |
What's the phone number of {0}? | What is the number of {0}? | What is the telephone number of {0}? |
{0}'s phone number, please. | {0}'s number? | {0} phone number | phone number {0} | phone {0} number |
Do you know {0}'s number? | Do you know the phone number of {0}? | Do you have a phone number for {0}? |
Do we have the number of {0}? | Do you have {0}'s telephone number? | Do I have a number for {0}? |
Is there a phone number for {0}? | Find the phone number of {0}. | Find {0}'s phone number. |
Find me a number for {0}. | Find {0} in the phone book. | Find {0} in my contacts. | Look up {0}'s phone number. |
Look up the number of {0}. | Look up {0} in my contacts. | Look for {0} in the phone book. |
Search my contacts for {0}. | Search the phone book for {0}. | Check the phone book for {0}. |
Check my contacts: what is {0}'s number? | Is {0} in the phone book? | Is {0} in my contacts? |
Which phone number has {0}? | Which number is {0}'s? | Under which number can I call {0}? |
Under what number do I reach {0}? | On which number can I reach {0}? | How can I reach {0} by phone? |
How do I reach {0}? I need the number. | I want to reach {0} by phone. | I have to reach {0}. What is the number? |
What number do I dial for {0}? | What number do I call to speak to {0}? | Which number do I dial to call {0}? |
I want to dial {0}'s number. What is it? | I must call {0}. What is the number? |
I need to call {0}. Do you have the number? | I want to phone {0}. Find the number. |
I need to phone {0}. What is the number? | I lost {0}'s number. | I lost the phone number of {0}. |
I forgot {0}'s phone number. | I forgot the number of {0}. | I need the phone number of {0}. |
I need a number for {0}. | I am looking for {0}'s phone number. | I would like to have {0}'s number. |
Can I have {0}'s number? | Can you give me {0}'s phone number? | Could you find {0}'s number for me? |
Give me {0}'s telephone number. | Show me {0}'s phone number. | Tell me {0}'s number. | Get me {0}'s number. |
Get the contact of {0}. | Show me the contact {0}. | The phone number of {0}, please. | The telephone number of {0}? |
On which number can I call {0}? | I want to ring {0}. Number? | Dialing {0}: what number? |
Get hold of {0} for me: the number. | Digits of {0}, please. | My address book has {0}. Show the entry. |
Mobile of {0}? | To phone {0}, which digits do I need? | Pull the contact {0}. | Open the contact of {0}. |
Is {0} in my contacts? What number? | Find {0} in the telephone book. | Find {0} in our phone book. |
Find {0} in the list of numbers. | Find {0}'s entry in the phone book. | See if {0} is in the phone book. |
Get {0} from the phone book. | Get {0} out of the phone book. | Take {0} from the phone book. |
Open the phone book at {0}. | Show {0} in the phone book. | Read {0} from the phone book. | Phone book: {0} |
Phone book, please: {0}"""),
    (Outcome(("phone", "number", "tel", "mobile"), lambda s: str(s.integer(100000, 999999)), "{}"),),
    "The number of {0} is {o}.",
)

USER = Concept(
    phrases("""get_user | user_info | find_user | user | lookup_user | get_profile | getUser | show_user |
user_lookup | user_profile | read_user | user_data | profile | get_user_by_id | fetch_user | userInfo | user_by_id |
load_user | get_user_profile | getUserById | view_user | user_details | find_user_by_id | load_profile |
show_profile | user_record | get_user_info | userProfile | retrieve_account | account_details | member_lookup |
userFetch | inspect_user | user_database | fetch_member | user_table | account_view | load_account |
customer_by_id | memberData | query_user | user_profile_get | accountLoader"""),
    phrases("""Get a user. | User data | Returns a user's profile. | Find a user | Users. | Looks up a user. |
Returns a user. | Get a user by id. | Returns the profile of a user. | User profile | Finds a user by id. |
Shows the data of a user. | Loads a user. | User lookup by id. | Gives the name and city of a user. | User |
Fetch the profile of a user. | Read the profile of a user. | User database | Who a user is | Profile of a user |
Use this to find a user by number. | Use this tool to get the data of a user. | Look up who a user is. |
Details of a user. | Get user data by id"""),
    (Field(("user_id", "id", "uid", "number", "key"), "integer", number(1, 9999)),),
    phrases("""Who is user {0}? | Get user {0}. | Show the user with id {0}. | Look up user {0}. |
Find user number {0}. | Tell me about user {0}. | Which user has the id {0}? | User {0}, please. | Show user {0}. |
What do we know about user {0}? | Find the user with id {0}. | Data of user {0}? | Get the profile of user {0}. |
Open the profile of user {0}. | Which user is {0}? | Name of user {0}? | I need user {0}. | Get the user {0}. |
Get the user with the id {0}. | Get user number {0}. | Get me the data of user {0}. | Get the details of user {0}. |
Show me user {0}. | Show me the profile of user {0}. | Show the user number {0}. | Show me the data of the user {0}. |
Show the details of user {0}. | Show the profile with id {0}. | Find user {0}. | Find the user {0} for me. |
Find the profile of user {0}. | Find user id {0}. | Look up the user with id {0}. | Look up user number {0}. |
Look up the profile of user {0}. | Look up who user {0} is. | Look up user id {0}. | Load user {0}. |
Load the profile of user {0}. | Load the user with id {0}. | Open user {0}. |
Open the profile of the user with id {0}. | Open the record of user {0}. | Fetch user {0}. |
Fetch the user with id {0}. | Fetch the profile of user {0}. | Give me user {0}. | Give me the profile of user {0}. |
Give me the data of user number {0}. | Give me the name of user {0}. | Tell me who user {0} is. |
Tell me the name of user {0}. | Tell me who has the user id {0}. | Who is the user {0}? | Who is user number {0}? |
Who is the user with id {0}? | Who has the user id {0}? | Who has user number {0}? | Whose id is {0}? |
Whose user id is {0}? | Whose profile has the id {0}? | Which user has number {0}? | Which user is number {0}? |
Which name has user {0}? | Which person is user {0}? | What is the name of user {0}? | What's the name of user {0}? |
What is the name of the user with id {0}? | What data do we have on user {0}? | What do you know about user {0}? |
What is in the profile of user {0}? | Do you know who user {0} is? | Do we have a user {0}? |
Do we have a user with the id {0}? | Is there a user with id {0}? | Is there a user number {0}? |
Is there a profile for user {0}? | Can I see user {0}? | Can I see the profile of user {0}? |
I want to see the profile of user {0}. | I want to see user {0}. | I need the data of user {0}. |
I need the profile of user number {0}. | I need to know who user {0} is. | I need the name of user {0}. |
I am looking for user {0}. | A user with id {0} wrote to us. Who is it? | User {0} has a problem. Who is it? |
User id {0}. | user {0} | user {0} profile | user id {0} who is it | User {0}: who is it? | User number {0}, please. |
The profile of user {0}, please. | The user with id {0}, please. | Check user {0}. |
Account with id {0}: details | Pull user {0}. | Retrieve user {0}. | Database entry of user {0}, please. |
Who hides behind user id {0}? | Customer number {0}: load the account | Fetch account {0}. | Bring up user {0}. |
Query the user table for id {0}. | The member with id {0}, please. | View the account of user {0}. |
Support case: user {0}. Load the data."""),
    (
        Outcome(("name", "user", "full_name"), words.full_name, "{}"),
        Outcome(("city", "town", "place"), words.city, "{}"),
    ),
    "User {0}: {o}.",
)

BIRTHDAY = Concept(
    phrases("""get_birthday | birthday | birthday_of | find_birthday | birthday_lookup | getBirthday | birth_date |
date_of_birth | lookup_birthday | show_birthday | birthdays | get_birth_date | check_birthday | birthDate |
when_born | get_date_of_birth | find_birth_date | contact_birthday | birthday_info | person_birthday | birthdayOf |
fetch_birthday | birth_day | read_birthday | birthday_date | dob_lookup | anniversary_person | birth_record |
age_date | celebrate_date | personBirth | birth_info | party_date | dob | birthdays_list"""),
    phrases("""Get the birthday of a person. | Birthdays | Returns somebody's birthday. | Date of birth |
Looks up a birthday. | Finds the birthday of a contact. | When somebody was born | Birthday list |
Gives the date of birth of a person. | The birthday of a person | Birthday lookup | Shows a birthday. |
Returns the date of birth. | Birthday calendar | Find out when somebody was born. |
Tells when a person has a birthday. | Birth date of a person | Use this to look up a birthday. |
Use this tool when the user asks for a birthday. | Birthdays of contacts | Returns the birth date of somebody. |
Reads the birthday list. | Get somebody's date of birth. | Birth dates | The day a person was born"""),
    (PERSON,),
    phrases("""When is {0}'s birthday? | When was {0} born? | What is the birthday of {0}? |
When does {0} have a birthday? | Birthday of {0}? | Tell me {0}'s birthday. | Look up the birthday of {0}. |
What is {0}'s date of birth? | Find the birthday of {0}. | I forgot {0}'s birthday. | Show me {0}'s birthday. |
What's {0}'s birthday? | When's {0}'s birthday? | When is the birthday of {0}? | Do you know when {0}'s birthday is? |
Do you know {0}'s birthday? | Do you know when {0} was born? | Do we have {0}'s birthday? |
Can you tell me when {0}'s birthday is? | Could you look up {0}'s birthday? | Look up when {0} was born. |
Look up {0}'s date of birth. | Look in the birthday list for {0}. | Check when {0}'s birthday is. |
Check the birthday list for {0}. | Check {0}'s date of birth. | Find out when {0} was born. |
Find out when {0} has a birthday. | Find {0}'s date of birth. | Get the birthday of {0}. | Get {0}'s birth date. |
Get me the date of birth of {0}. | Give me {0}'s birthday. | Give me the date of birth of {0}. |
Give me the birth date of {0}. | I need the birthday of {0}. | I need {0}'s date of birth. |
I need {0}'s birth date. | I want to know when {0} was born. | I want to know {0}'s birthday. |
I would like to know when {0}'s birthday is. | I have to buy a present for {0}. When is the birthday? |
I want to send {0} a birthday card. On which day? | I want to bake a birthday cake for {0}. When is the birthday? |
I do not remember when {0} was born. | I do not remember {0}'s birthday. | I never know when {0}'s birthday is. |
On what day was {0} born? | On which day was {0} born? | On which date is {0}'s birthday? |
On what date was {0} born? | On which day is the birthday of {0}? | In which year was {0} born? |
In what month is {0}'s birthday? | What day is {0}'s birthday? | What date is {0}'s birthday? |
Which date of birth does {0} have? | What is the birth date of {0}? | What is the date of birth of {0}? |
Is {0}'s birthday soon? | Is it {0}'s birthday soon? | Did I miss {0}'s birthday? When is it? | {0} birthday |
{0}'s birthday, please. | {0}'s birthday? | birthday {0} | {0}: date of birth? | {0} was born when? |
The birthday of {0}, please. | The date of birth of {0}, please. | Date of birth of {0}? |
In which month is the birthday of {0}? | Which month was {0} born in? | When do we bring a cake for {0}? |
When is the party for the birth date of {0}? | Date of birth: {0} | {0} grows a year older on which day? |
Birth date of {0}, please. | I buy a present for {0}. On which date is the birthday? |
When should I congratulate {0}? | Congratulate {0} on which day? | Birth year and day of {0}? |
{0} came into the world when? | When did {0} come into the world? | The special day of {0}: birthday, please. |
Cake for {0}: on what date? | When does {0} have the birthday? | When does {0} celebrate? Birthday, please. |
When does my friend {0} have a birthday? | When will {0} have a birthday? | When has {0} a birthday? |
When does {0} turn a year older? | When does {0} get birthday presents? | On what day does {0} have a birthday? |
On which date does {0} have a birthday? | Does {0} have a birthday this month? When?"""),
    (
        Outcome(
            ("birthday", "date", "born", "date_of_birth"),
            lambda s: f"{s.integer(1940, 2018)}-{s.integer(1, 12):02d}-{s.integer(1, 28):02d}",
            "{}",
        ),
    ),
    "The birthday of {0} is {o}.",
)
