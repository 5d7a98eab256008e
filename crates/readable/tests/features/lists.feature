@property
Feature: Lists
  Simple properties of lists.

  Rule: Deleting a number from a list leaves a list without that number.
    This must hold for any whole number n and any list xs of whole numbers.

    Scenario: Delete - example 1
      Given I have the number 0, called n
      And I have the empty list, called xs
      When I call "remove first" with n and xs
      Then n is not in the result

    Scenario: Delete - example 2
      Given I have the number 13, called n
      And I have the list [6, 13, 11], called xs
      When I call "remove first" with n and xs
      Then n is not in the result
