"""PyModel config: only one of the users, and each user with their own password."""

import Login

Login.domains[Login.Login] = {
    "user": ["OleBrumm", "OleBrumm"],
    "password": ["Correct", "Incorrect"],
}
Login.combinations = {Login.Login: "cases"}
