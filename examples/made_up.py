"""Tables for the examples, made up by known rules; no row is about a real person."""

from __future__ import annotations

import numpy as np
import pandas as pd


def recidivism(rows: int, seed: int = 0) -> pd.DataFrame:
    """Return a table with raw columns as COMPAS has them; the last says who was arrested again within two years.

    At risk are the young, those with many prior arrests and those with a juvenile record; nothing else matters.
    """
    random = np.random.default_rng(seed)
    age = 18 + random.gamma(2.0, 8.0, rows).astype(int)
    priors = random.poisson(random.gamma(0.8, 4.0, rows))
    juvenile = random.poisson(0.2, rows)
    felony = random.random(rows) < 0.65
    risk = np.where((priors > 3) | (age < 25), 0.85, np.where(juvenile > 0, 0.75, 0.1))
    jailed = pd.Timestamp("2013-01-01") + pd.to_timedelta(random.integers(0, 700, rows), unit="D")
    days = random.geometric(0.08, rows)
    return pd.DataFrame(
        {
            "id": np.arange(1, rows + 1),
            "sex": np.where(random.random(rows) < 0.8, "Male", "Female"),
            "age": age,
            "juvenile_count": juvenile,
            "priors_count": priors,
            "charge_degree": np.where(felony, "F", "M"),
            "jail_in": jailed.strftime("%Y-%m-%d"),
            "jail_out": (jailed + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d"),
            "two_year_recid": (random.random(rows) < risk).astype(int),
        }
    )


def credit(rows: int, seed: int = 0) -> pd.DataFrame:
    """Return loans; the last column says whether they were paid back. Some incomes are not known."""
    random = np.random.default_rng(seed)
    amount = (random.lognormal(8.0, 0.7, rows) / 100).astype(int) * 100
    months = random.choice([6, 12, 24, 36, 48, 60], rows)
    income = (random.lognormal(7.7, 0.4, rows) / 50).astype(int) * 50.0
    income[random.random(rows) < 0.08] = np.nan
    history = random.choice(["none", "all paid", "delayed", "critical"], rows, p=[0.2, 0.5, 0.2, 0.1])
    savings = random.choice(["little", "moderate", "rich"], rows, p=[0.6, 0.3, 0.1])
    risk = (
        0.05
        + 0.30 * (history == "critical")
        + 0.15 * (history == "delayed")
        + 0.25 * (months >= 36) * (savings == "little")
        + 0.20 * (np.isnan(income) | (income < 1500))
    )
    return pd.DataFrame(
        {
            "amount": amount,
            "months": months,
            "income": income,
            "history": history,
            "savings": savings,
            "purpose": random.choice(["car", "house", "education", "business"], rows),
            "paid": np.where(random.random(rows) < risk, "no", "yes"),
        }
    )


def sensors(rows: int, seed: int = 0) -> pd.DataFrame:
    """Return readings of a machine; the last column says whether it failed within a day."""
    random = np.random.default_rng(seed)
    temperature = random.normal(60, 12, rows).round(1)
    vibration = random.gamma(3.0, 1.5, rows).round(2)
    pressure = random.normal(5, 0.6, rows).round(2)
    hours = random.integers(0, 20_000, rows)
    risk = 0.02 + 0.7 * ((temperature > 75) & (vibration > 5)) + 0.8 * ((hours > 15_000) & (pressure < 4.6))
    return pd.DataFrame(
        {
            "temperature": temperature,
            "vibration": vibration,
            "pressure": pressure,
            "hours": hours,
            "plant": random.choice(["north", "south", "east"], rows),
            "failed": random.random(rows) < risk,
        }
    )
