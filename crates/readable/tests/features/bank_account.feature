@property
Feature: Bank account
  - Rules that every bank account follows.

  Rule: Taking money out lowers the balance by exactly that amount.
    This must hold for any whole number balance from 0 to 1000 and any whole number amount from 1 to 1000, provided that amount is at most balance.

    Scenario: Withdraw - example 1
      Given I have the number 5, called balance
      And I have the number 5, called amount
      And amount is at most balance
      And I have a new account made from balance, called account
      When I call "withdraw" on account with amount
      Then the balance of account equals balance minus amount
      And the balance of account is at least 0

    Scenario: Withdraw - example 2
      Given I have the number 90, called balance
      And I have the number 1, called amount
      And amount is at most balance
      And I have a new account made from balance, called account
      When I call "withdraw" on account with amount
      Then the balance of account equals balance minus amount
      And the balance of account is at least 0

  Rule: No overdraft
    This must hold for any whole number balance from 0 to 1000 and any whole number amount from 1 to 1000, provided that amount is greater than balance.

    Scenario: No overdraft - example 1
      Given I have the number 0, called balance
      And I have the number 1, called amount
      And amount is greater than balance
      And I have a new account made from balance, called account
      When I try to call "withdraw" on account with amount
      Then it fails with the error "insufficient funds"
      And the balance of account equals balance
