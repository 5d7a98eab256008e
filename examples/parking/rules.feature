@property
Feature: Rules
  What the owner of the car park asked for.

  Rule: A quarter of an hour costs nothing, all else does.
    This must hold for any whole number minutes.

    Scenario: Short stays are free - example 1
      Given I have the number 0, called minutes
      And minutes is at most 15
      When I call "fee" with minutes
      Then the result is 0

    Scenario: Short stays are free - example 2
      Given I have the number 16, called minutes
      And minutes is greater than 15
      When I call "fee" with minutes
      Then the result is at least 2

  Rule: Only who stays longer than a day pays more than twelve euros.
    This must hold for any whole number minutes.

    Scenario: A day has a limit - example 1
      Given I have the number 0, called minutes
      And minutes is at most 1440
      When I call "fee" with minutes
      Then the result is at most 12

    Scenario: A day has a limit - example 2
      Given I have the number 1995, called minutes
      And minutes is greater than 1440
      When I call "fee" with minutes
      Then the result is greater than 12

  Rule: Who leaves and comes back does not save money.
    This must hold for any whole number first stay and any whole number second stay.

    Scenario: Coming back saves nothing - example 1
      Given I have the number 0, called first stay
      And I have the number 16, called second stay
      When I call "fee" with first stay, giving result 1
      And I call "fee" with second stay, giving result 2
      And I call "fee" with first stay plus second stay, giving result 3
      Then result 1 plus result 2 is at least result 3
