import { Type } from '@sinclair/typebox'
import { grouped, Prose, Shape } from '../../core/shapes'
import { expectedText } from '../expected-text'
import { headerMap } from '../http/options'
import { ipFamily, serverName, tlsOptions } from '../tls-options'

/** Options of WebSocket checks. */
export const websocketOptions = Shape({
  send: Type.Optional(
    Prose({
      maxLength: 65_536,
      description: 'Text message to send once the WebSocket is open.',
      examples: ['{"type":"ping"}'],
    }),
  ),
  ...expectedText,
  ...grouped('Request', {
    headers: headerMap('Request headers by name. `User-Agent` defaults to `Bailiwick/<version> (+monitor)`.', [
      { Origin: 'https://www.example.com' },
    ]),
    secret_headers: headerMap('Request headers with secret values. They are encrypted at rest and never shown again.', [
      { Authorization: 'Bearer changeme-9f2c41' },
    ]),
    subprotocol: Type.Optional(
      Type.String({
        pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
        'x-rule': 'must be 1 to 100 letters, digits, and characters such as . _ - +, without spaces (RFC 9110 section 5.6.2).',
        description: 'Subprotocol to offer, which the server must select.',
        examples: ['graphql-transport-ws'],
      }),
    ),
  }),
  ...grouped('Response', {
    read_limit_bytes: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 1024 * 1024,
        default: 65_536,
        description: 'Maximum number of bytes to read. Receiving more before the expected message is a failure.',
      }),
    ),
  }),
  server_name: serverName,
  ...tlsOptions,
  ip_family: ipFamily,
})
