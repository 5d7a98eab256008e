@property
Feature: Lists
  Simple properties of lists.

  Rule: Deleting a number from a list leaves a list without that number.
    This must hold for any whole number n and any list xs of whole numbers.

    @counterexample
    Scenario: Delete - counterexample
      Expected: n is not in the result.
      Observed: n is in the result.
      The result is the list [7].
      It does not happen when xs is the list [7].

      Given I have the number 7, called n
      And I have the list [7, 7], called xs
      When I call "remove first" with n and xs
      Then n is not in the result
