"""Replies that decline to rate, and error messages in the place of a reply."""

from __future__ import annotations

import re

_RATE = (
    r"(?:rat(?:e|ing)|judg(?:e|ing)|assess|evaluat|answer|say|tell|determin|provid|giv|assign|"
    r"offer|mak|comment|scor(?:e|ing)|help|assist|respond|complet|compl(?:y|ied)|engag|"
    r"do (?:this|that|so)|participat|express|infer|know|continue|fulfil|speculat|"
    r"decid|quantif|form|pick|choos|select)"
)
_CANNOT = (
    r"(?:can(?:'t| ?not)|could(?:n't| not)|won't|will not|would(?:n't| not)|am (?:not|un)able|"
    r"'m (?:not|un)able|unable|not able|do(?:n't| not) feel comfortable|"
    r"'m not comfortable|am not comfortable|must (?:decline|refuse)|decline|refuse|"
    r"not going to|prefer not|rather not|not (?:in a position|qualified|permitted|allowed))"
)
_REFUSAL = re.compile(
    rf"\b(?:I|I'm|I'd|I'll|we)\b[^.!?\n]{{0,40}}?{_CANNOT}\b[^.!?\n]{{0,40}}?\b{_RATE}"
    r"|\bI (?:must |have to |respectfully )*(?:decline|refuse)\b|\b(?:decline|refuse) to\b"
    r"|\bI (?:can't|cannot|can not)\W*$|\bno way (?:to|of) (?:tell|know|judg|say)"
    r"|\bI (?:generally |usually |really |also )?do(?:n't| not) "
    r"(?:rate|judge|assess|evaluate|score)\b"
    r"|\bI (?:do not|don't) think I can\b|\bI have no (?:basis|opinion|feeling|way|means)"
    r"|\bno (?:rating|score) (?:is |can be )?(?:possible|given)\b"
    r"|\b(?:don't|do not) have (?:the |any |an? )?(?:ability|capacity|capability|opinion|feeling|"
    r"personal|basis|means)"
    rf"|\b(?:not enough|insufficient|too little|lack(?:s|ing)?(?: of)?(?: enough| sufficient)?|"
    rf"(?:do not|don't) have (?:enough|sufficient))\b[^.!?\n]{{0,40}}"
    rf"\b(?:information|context|evidence|detail)s?\b"
    rf"|\bcannot be (?:rated|judged|assessed|determined|evaluated|answered)\b"
    rf"|\b(?:not|in)appropriate\b[^.!?\n]{{0,20}}\bto\b[^.!?\n]{{0,20}}{_RATE}"
    r"|\b(?:don't|do not) think it(?:'s| is| would be) (?:fair|right|possible) to\b"
    r"|\b(?:impossible|not possible) to (?:rate|judge|assess|say|tell|determine|evaluate)\b"
    r"|\bas an? (?:AI|artificial|language|large language|assistant)\b[^.!?\n]{0,60}\b"
    r"(?:do not|don't|cannot|can't|unable|no|not|lack|without)\b"
    r"|\b(?:I'm|I am) (?:just |only |merely )?an? (?:AI|language model)\b"
    r"|^\W*(?:I'm|I am|so) sorry\b|^\W*sorry\b|^\W*my apologies\b|^\W*I apologi[sz]e\b"
    r"|\bn/a\b|:[ ]*(?:none|n/?a|not applicable)\W*$"
    r"|^\W*(?:n/?a|no (?:rating|answer|comment)|not applicable|prefer not to say)\W*$"
    r"|\b(?:es tut mir leid|ich kann (?:das |dies )?(?:leider )?nicht|lo siento|je suis désolée?|"
    r"je ne peux pas|mi dispiace|desculpe|извините|抱歉|无法(?:评|判|回)|申し訳)",
    re.IGNORECASE,
)
# Declining one number is no refusal to give another: "I wouldn't give it a 7".
_DECLINED_NUMBER = re.compile(
    r"(?:can(?:'t| ?not)|could(?:n't| not)|won't|will not|would(?:n't| not)|am (?:not|un)able to|"
    r"'m (?:not|un)able to|not going to)"
    r"[^.!?\n\d]{0,60}\b(?:an?|than|above|below|as|to|at|with|it|say|give|between)[ ]"
    r"-?\d(?![^.!?\n]*\bany\b)",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\W*(?:(?:API|HTTP|server|request|internal)?[ _-]*(?:error|exception)\b(?: code)?[\s:#-]*"
    r"\(?[45]\d\d\b|HTTP(?:/[\d.]+)?\s+[45]\d\d\b|[45]\d\d\s+(?:bad request|unauthorized|forbidden|"
    r"not found|too many requests|internal server error|bad gateway|service unavailable|"
    r"gateway time-?out)\b|\{?\s*\"error\"\s*:|(?:rate limit|quota) (?:reached|exceeded)|"
    r"traceback \(most recent call)",
    re.IGNORECASE,
)


def is_refusal(text: str) -> bool:
    """Say whether a plain text declines to give a rating.

    Examples
    --------
    >>> is_refusal("Sorry, but I can't rate a stranger.")
    True
    >>> is_refusal("quite helpful")
    False
    """
    return bool(_REFUSAL.search(_DECLINED_NUMBER.sub(" ", text)))


def is_error_message(text: str) -> bool:
    """Say whether a text is a server's error message that came as if it were a reply.

    Examples
    --------
    >>> is_error_message("[ERROR 400: bad request]"), is_error_message("5")
    (True, False)
    """
    return bool(_ERROR.match(text[:1000].strip()[:200]))
