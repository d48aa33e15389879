"""Says which signatures of a webhook message fit a secret, with nothing but Python's standard library.

Reads {"secret", "headers", "body"} as JSON, header names in lower case, and writes the verdict as JSON.
"""

import base64
import hashlib
import hmac
import json
import sys

asked = json.load(sys.stdin)
secret, headers, body = asked["secret"], asked["headers"], asked["body"].encode()

plain = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
key = base64.b64decode(secret.removeprefix("whsec_"))
signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
standard = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()

json.dump(
    {
        "standard": any(hmac.compare_digest(one, standard) for one in headers["webhook-signature"].split(" ")),
        "plain": hmac.compare_digest(headers["x-service-signature"], plain),
        "next": hmac.compare_digest(headers.get("x-service-signature-next", ""), plain),
    },
    sys.stdout,
)
