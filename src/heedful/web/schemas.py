"""What goes over the wire, as the OpenAPI description tells it."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

SCHEMA = 1


class ModelAbout(BaseModel):
    """A model that can be asked."""

    name: str
    classes: list[str]
    scale: float | None = Field(description="λ, which scores are divided by; null where it was not set")
    test_accuracy: float | None
    mixes_tokens: bool = Field(description="whether words have read each other before attention sees them")
    most_words: int = Field(description="the most words of a text that it is asked about")


class ModelList(BaseModel):
    """All models of this server, by number."""

    schema_version: int = SCHEMA
    models: list[ModelAbout]
    most_characters: int = Field(description="the longest text that is read")


class Question(BaseModel):
    """A text to be read."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"text": "a gorgeous, witty film", "model": 0}}
    )
    text: str = Field(description="the text to read")
    model: int = Field(0, ge=0, description="the model's number in the list of models")

    @field_validator("text")
    @classmethod
    def _is_unicode(cls, text: str) -> str:
        """JSON can say half of a surrogate pair, which is no character."""
        if any("\ud800" <= sign <= "\udfff" for sign in text):
            raise ValueError("it has half of a surrogate pair, which is no character")
        return text


class Reading(BaseModel):
    """How a model read a text: as one text of an audit's `audit.json`."""

    schema_version: int = SCHEMA
    model: int
    unread: int = Field(description="words at the end that are beyond what the model reads")
    text: dict[str, Any] = Field(
        description="words, gaps, read, known, decided, probabilities, weights, rankings, errors, "
        "token_logits, bias, smallest, paths, adversary"
    )


class Fault(BaseModel):
    """What was wrong, in a sentence."""

    error: str
