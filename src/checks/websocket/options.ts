import { Type } from '@sinclair/typebox'
import { Prose, Shape } from '../../core/shapes'
import { expectedText } from '../expected-text'
import { headerMap } from '../http/options'
import { ipFamily, serverName, tlsMembers } from '../tls-options'

/** What may be said of a check of a WebSocket. */
export const websocketOptions = Shape({
  headers: headerMap('Headers of the request, by name. Without `User-Agent` it is `Bailiwick/<version> (+monitor)`.', [
    { Origin: 'https://www.example.com' },
  ]),
  secret_headers: headerMap('Headers whose values are sealed and never shown again.', [
    { Authorization: 'Bearer changeme-9f2c41' },
  ]),
  subprotocol: Type.Optional(
    Type.String({
      pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
      'x-rule': 'must be a token of at most 100 characters (RFC 9110 section 5.6.2).',
      description: 'Subprotocol that is offered, and that the server must choose.',
      examples: ['graphql-transport-ws'],
    }),
  ),
  send: Type.Optional(
    Prose({
      maxLength: 65_536,
      description: 'Message of text that is sent when the WebSocket is open.',
      examples: ['{"type":"ping"}'],
    }),
  ),
  ...expectedText,
  read_limit_bytes: Type.Optional(
    Type.Integer({
      minimum: 1024,
      maximum: 1024 * 1024,
      default: 65_536,
      description: 'How much is read; more before what is expected has come is a failure.',
    }),
  ),
  servername: serverName,
  ...tlsMembers,
  ip_family: ipFamily,
})
