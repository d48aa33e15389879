import { Type, type Static } from '@sinclair/typebox'
import { discriminator, Line, Prose, Shape, Words } from '../../core/shapes'
import { ipFamily, tlsDestination, tlsMembers, tlsSecrets } from '../tls-options'

const bodyMost = 1024 * 1024

const HeaderName = Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" })
const HeaderValue = Type.String({
  pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]{0,4096}$',
  'x-rule': 'must be at most 4,096 characters of Latin-1 without control characters.',
})
/** Headers by name, as an option. */
export const headerMap = (description: string, examples: object[]) =>
  Type.Optional(
    Type.Record(HeaderName, HeaderValue, {
      maxProperties: 50,
      additionalProperties: false,
      'x-rule': 'must be a header name of at most 100 characters (RFC 9110 section 5.1).',
      description,
      examples,
    }),
  )

const secret = (description: string) =>
  Type.String({
    pattern: '^[^\\x00-\\x1f\\x7f]{1,4096}$',
    'x-rule': 'must be 1 to 4,096 characters without control characters.',
    description,
  })
const Token = Type.String({
  pattern: '^[\\x20-\\x7e\\x80-\\xff]{1,4096}$',
  'x-rule': 'must be 1 to 4,096 characters of Latin-1 without control characters.',
  description: 'The token.',
})
const user = Line({ minLength: 1, maxLength: 256, description: 'Name of the user.', examples: ['probe'] })

const Auth = Type.Union(
  [
    Shape({ type: Type.Literal('basic'), username: user, password: secret('Its password.') }, { title: 'Basic (RFC 7617)' }),
    Shape({ type: Type.Literal('bearer'), token: Token }, { title: 'Bearer (RFC 6750)' }),
    Shape(
      {
        type: Type.Literal('oauth2'),
        token_url: Line({
          minLength: 1,
          maxLength: 2048,
          description: 'Where tokens are given out; https or http.',
          examples: ['https://login.example.com/oauth/token'],
        }),
        client_id: Line({ minLength: 1, maxLength: 512, description: 'Name of the client.', examples: ['bailiwick'] }),
        client_secret: secret('Its secret.'),
        scope: Type.Optional(
          Line({ minLength: 1, maxLength: 1000, description: 'Scopes that are asked for.', examples: ['health.read'] }),
        ),
        audience: Type.Optional(Line({ minLength: 1, maxLength: 1000, description: 'For whom the token is to be.' })),
        client_auth: Type.Optional(
          Words(['header', 'body'], {
            default: 'header',
            description: 'How the client shows its secret: by HTTP Basic or as members of the form (RFC 6749 section 2.3.1).',
          }),
        ),
      },
      { title: 'OAuth 2.0 client credentials (RFC 6749 section 4.4)' },
    ),
    Shape(
      {
        type: Type.Literal('ntlm'),
        username: user,
        password: secret('Its password.'),
        domain: Type.Optional(Line({ maxLength: 256, default: '', description: 'Its domain.', examples: ['CORP'] })),
      },
      { title: 'NTLMv2 (MS-NLMP)' },
    ),
  ],
  {
    [discriminator]: 'type',
    description:
      'Credentials that are sent to the origin of the target alone: `basic`, `bearer`, `oauth2` (client credentials; the token is kept until it expires) or `ntlm`.',
    examples: [{ type: 'basic', username: 'probe', password: 'changeme-9f2c41' }],
  },
)

/** What may be said of a check of HTTP. */
export const httpOptions = Shape({
  method: Type.Optional(
    Type.String({
      pattern: '^[A-Z][A-Z-]{0,19}$',
      'x-rule': 'must be a method in capitals, of at most 20 letters.',
      default: 'GET',
      description: 'Method of the request.',
      examples: ['HEAD'],
    }),
  ),
  headers: headerMap('Headers of the request, by name. Without `User-Agent` it is `Bailiwick/<version> (+monitor)`.', [
    { Accept: 'application/json' },
  ]),
  secret_headers: headerMap(
    'Headers whose values are sealed and never shown again. They are sent to the origin of the target alone, not to others that it redirects to.',
    [{ 'X-Api-Key': 'changeme-9f2c41' }],
  ),
  body: Type.Optional(
    Prose({ maxLength: 65_536, description: 'Body of the request.', examples: ['{"query": "{ __typename }"}'] }),
  ),
  body_encoding: Type.Optional(
    Words(['text', 'json', 'form', 'xml'], {
      default: 'text',
      description: 'What the body is, for `Content-Type`, unless `headers` have one. `json` and `form` are checked when saved.',
    }),
  ),
  auth: Type.Optional(Auth),
  accepted_status: Type.Optional(
    Type.Array(
      Type.String({
        pattern: '^[1-9][0-9]{2}(-[1-9][0-9]{2})?$',
        'x-rule': 'must be a status code, or two with a hyphen between them: 200-299.',
      }),
      {
        minItems: 1,
        maxItems: 20,
        default: ['200-299'],
        description: 'Status codes that are well, and ranges of them.',
        examples: [['200-299', '401']],
      },
    ),
  ),
  follow_redirects: Type.Optional(
    Type.Boolean({ default: true, description: 'Whether redirects are followed; if not, a redirect is the answer.' }),
  ),
  max_redirects: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 10, default: 5, description: 'Redirects that are followed; one more is a failure.' }),
  ),
  cookies: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'Whether cookies that an answer sets are sent along when its redirect is followed.',
    }),
  ),
  ...tlsMembers,
  tls: Type.Optional(
    Words(['any', 'required', 'forbidden'], {
      default: 'any',
      description: 'Whether the answer, after redirects, must have come over TLS, or must not.',
    }),
  ),
  http_version: Type.Optional(
    Words(['1.1', '2'], {
      default: '1.1',
      description:
        'Version of HTTP that is spoken. `2` is by ALPN over TLS, and with prior knowledge without it (RFC 9113 section 3.3).',
    }),
  ),
  ip_family: ipFamily,
  resolver: Type.Optional(
    Line({
      minLength: 1,
      maxLength: 2048,
      description:
        'Name server that the hosts of the target and of redirects are looked up with, in place of those of the hub: a host with a port or without, asked over UDP; `tcp://` or `tls://` before it; or a URL for DNS over HTTPS. Nothing is remembered from one check to the next.',
      examples: ['9.9.9.9', 'tls://dns.example.net', 'https://dns.example.net/dns-query'],
    }),
  ),
  proxy: Type.Optional(
    Shape(
      {
        url: Line({
          minLength: 1,
          maxLength: 2048,
          description: 'Its address: `http`, `https`, `socks4`, `socks5` with host and port. It looks the target up itself.',
          examples: ['socks5://proxy.example.net:1080'],
        }),
        username: Type.Optional(Line({ minLength: 1, maxLength: 255, description: 'Name of the user at the proxy.' })),
        password: Type.Optional(secret('Its password.')),
      },
      { description: 'A proxy between. The network policy then is about the proxy.' },
    ),
  ),
  ssh_tunnel: Type.Optional(
    Shape(
      {
        host: Line({
          minLength: 1,
          maxLength: 253,
          description: 'Its host name or address.',
          examples: ['bastion.example.net'],
        }),
        port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, default: 22, description: 'Its port.' })),
        username: Line({ minLength: 1, maxLength: 256, description: 'Name of the user there.', examples: ['probe'] }),
        password: Type.Optional(secret('Its password. Either this or `private_key`.')),
        private_key: Type.Optional(
          Prose({ maxLength: 65_536, description: 'Its private key as `ssh-keygen` writes it. Either this or `password`.' }),
        ),
        passphrase: Type.Optional(secret('What opens the private key, where it is encrypted.')),
        host_key: Type.String({
          pattern: '^SHA256:[A-Za-z0-9+/]{43}$',
          'x-rule': 'must be a fingerprint as `ssh-keygen -l` prints it: `SHA256:` and 43 characters of Base64.',
          description:
            'Fingerprint of the key that the server shows: `ssh-keyscan HOST | ssh-keygen -lf -`. Of several keys Ed25519 comes first, then ECDSA, then RSA. With another key it is down, and no password is sent.',
          examples: ['SHA256:LMaDLmkhQK58emNvEQLRLwD8eNWCXcwSl8BWeUWZ5OU'],
        }),
      },
      {
        description:
          'A server of SSH from which the target is reached, and which looks it up itself. The network policy then is about that server.',
      },
    ),
  ),
  compression: Type.Optional(
    Words(['any', 'none', 'gzip', 'deflate', 'br', 'zstd'], {
      default: 'any',
      description: 'Codings of the body that are accepted. It is decoded before it is looked at.',
    }),
  ),
  body_limit_bytes: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: bodyMost,
      default: bodyMost,
      description:
        'How much of the body is read, decoded; the rest is not looked at, and an answer that is longer is no failure.',
    }),
  ),
  expected_headers: headerMap(
    'What headers of the answer must be, by name; `*` stands for any number of characters, and letters match in either case.',
    [{ 'Content-Type': 'application/json*' }],
  ),
  cache_bust: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether a parameter that is new each time is added to the URL, so that no cache answers.',
    }),
  ),
  invert: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Turns it upside down: what would be a failure is well, and what would be well is one.',
    }),
  ),
})
export type HttpOptions = Static<typeof httpOptions>
export type HttpAuth = NonNullable<HttpOptions['auth']>
export type SshTunnel = NonNullable<HttpOptions['ssh_tunnel']>

/** Members that are sealed. */
export const httpSecrets = [
  '/secret_headers/*',
  '/auth/password',
  '/auth/token',
  '/auth/client_secret',
  ...tlsSecrets,
  '/proxy/password',
  '/ssh_tunnel/password',
  '/ssh_tunnel/private_key',
  '/ssh_tunnel/passphrase',
] as const

/** Members that say where secrets go, or who is believed to be there. One front serves many sites, which `Host` tells apart. */
export const httpDestination = [
  '/auth/type',
  '/auth/token_url',
  '/proxy/url',
  '/resolver',
  '/ssh_tunnel/host',
  '/ssh_tunnel/port',
  '/ssh_tunnel/host_key',
  '/headers/Host',
  '/secret_headers/Host',
  ...tlsDestination,
] as const
