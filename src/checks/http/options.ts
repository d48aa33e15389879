import { Type, type Static } from '@sinclair/typebox'
import { discriminator, grouped, Line, Prose, Shape, Words } from '../../core/shapes'
import { connectionGroup, ipFamily, tlsDestination, tlsGroup, tlsOptions, tlsSecrets } from '../tls-options'

const maxBodyBytes = 1024 * 1024

const HeaderName = Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" })
const HeaderValue = Type.String({
  pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]{0,4096}$',
  'x-rule': 'must be at most 4,096 Latin-1 characters without control characters.',
})
/** An option with headers by name. */
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
  'x-rule': 'must be 1 to 4,096 Latin-1 characters without control characters.',
  description: 'Bearer token.',
})
const user = Line({ minLength: 1, maxLength: 256, description: 'Username.', examples: ['probe'] })

const Auth = Type.Union(
  [
    Shape({ type: Type.Literal('basic'), username: user, password: secret('Password.') }, { title: 'Basic (RFC 7617)' }),
    Shape({ type: Type.Literal('bearer'), token: Token }, { title: 'Bearer (RFC 6750)' }),
    Shape(
      {
        type: Type.Literal('oauth2'),
        token_url: Line({
          minLength: 1,
          maxLength: 2048,
          description: 'Token endpoint; an https or http URL.',
          examples: ['https://login.example.com/oauth/token'],
        }),
        client_id: Line({ minLength: 1, maxLength: 512, description: 'Client ID.', examples: ['bailiwick'] }),
        client_secret: secret('Client secret.'),
        scope: Type.Optional(
          Line({
            minLength: 1,
            maxLength: 1000,
            description: 'Scopes to request, separated by spaces.',
            examples: ['health.read'],
          }),
        ),
        audience: Type.Optional(Line({ minLength: 1, maxLength: 1000, description: 'Audience to request.' })),
        client_auth: Type.Optional(
          Words(['header', 'body'], {
            default: 'header',
            description:
              'How to send the client credentials: HTTP Basic (`header`) or form fields (`body`) (RFC 6749 section 2.3.1).',
          }),
        ),
      },
      { title: 'OAuth 2.0 client credentials (RFC 6749 section 4.4)' },
    ),
    Shape(
      {
        type: Type.Literal('ntlm'),
        username: user,
        password: secret('Password.'),
        domain: Type.Optional(Line({ maxLength: 256, default: '', description: 'Windows domain.', examples: ['CORP'] })),
      },
      { title: 'NTLMv2 (MS-NLMP)' },
    ),
  ],
  {
    [discriminator]: 'type',
    title: 'Authentication type',
    description:
      'Sent only to the origin of the target: `basic`, `bearer`, `oauth2` (client credentials; the token is cached until it expires), or `ntlm`.',
    examples: [{ type: 'basic', username: 'probe', password: 'changeme-9f2c41' }],
  },
)

/** Options of HTTP checks. */
export const httpOptions = Shape({
  ...grouped('Request', {
    method: Type.Optional(
      Type.String({
        pattern: '^[A-Z][A-Z-]{0,19}$',
        'x-rule': 'must be an uppercase method of at most 20 letters.',
        default: 'GET',
        description: 'Request method.',
        examples: ['HEAD'],
      }),
    ),
    headers: headerMap('Request headers by name. `User-Agent` defaults to `Bailiwick/<version> (+monitor)`.', [
      { Accept: 'application/json' },
    ]),
    secret_headers: headerMap(
      'Request headers with secret values. They are encrypted at rest, never shown again, and sent only to the origin of the target, not to other origins after a redirect.',
      [{ 'X-Api-Key': 'changeme-9f2c41' }],
    ),
    body: Type.Optional(Prose({ maxLength: 65_536, description: 'Request body.', examples: ['{"query": "{ __typename }"}'] })),
    body_encoding: Type.Optional(
      Words(['text', 'json', 'form', 'xml'], {
        default: 'text',
        description:
          'Format of the body, which sets `Content-Type` unless `headers` does. `json` and `form` are validated when saved.',
      }),
    ),
    cookies: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Send cookies set by a redirect with the following requests.',
      }),
    ),
    cache_bust: Type.Optional(
      Type.Boolean({
        default: false,
        title: 'Bypass caches',
        description: 'Add a random query parameter to the URL.',
      }),
    ),
  }),
  ...grouped('Authentication', {
    auth: Type.Optional(Auth),
  }),
  ...grouped('Response', {
    accepted_status_codes: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[1-9][0-9]{2}(-[1-9][0-9]{2})?$',
          'x-rule': 'must be a status code or a range such as 200-299.',
        }),
        {
          minItems: 1,
          maxItems: 20,
          default: ['200-299'],
          description: 'Status codes or ranges that count as success.',
          examples: [['200-299', '401']],
        },
      ),
    ),
    expected_headers: headerMap('Expected response headers by name. `*` matches any number of characters; case is ignored.', [
      { 'Content-Type': 'application/json*' },
    ]),
    follow_redirects: Type.Optional(
      Type.Boolean({ default: true, description: 'Follow redirects. If off, the redirect itself is the response.' }),
    ),
    max_redirects: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 10,
        default: 5,
        description: 'Maximum number of redirects to follow. If there are more, the check fails.',
      }),
    ),
    body_limit_bytes: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxBodyBytes,
        default: maxBodyBytes,
        description: 'Maximum size of the body to read, after decoding. The rest is ignored; a longer response is not a failure.',
      }),
    ),
    compression: Type.Optional(
      Words(['any', 'none', 'gzip', 'deflate', 'br', 'zstd'], {
        default: 'any',
        description: 'Accepted content encodings. The body is decoded before it is evaluated.',
      }),
    ),
    invert: Type.Optional(
      Type.Boolean({
        default: false,
        title: 'Invert the result',
        description: 'A failing check counts as up, a passing one as down.',
      }),
    ),
  }),
  ...tlsOptions,
  ...grouped(tlsGroup, {
    tls: Type.Optional(
      Words(['any', 'required', 'forbidden'], {
        default: 'any',
        title: 'Use of TLS',
        description: 'Require or forbid TLS for the final response, after redirects.',
      }),
    ),
  }),
  ...grouped(connectionGroup, {
    http_version: Type.Optional(
      Words(['1.1', '2'], {
        default: '1.1',
        description:
          'HTTP version. `2` is negotiated with ALPN over TLS, and uses prior knowledge without TLS (RFC 9113 section 3.3).',
      }),
    ),
    ip_family: ipFamily,
    resolver: Type.Optional(
      Line({
        minLength: 1,
        maxLength: 2048,
        description:
          'Name server for the hosts of the target and of redirects, instead of the hub’s resolvers: a host with an optional port (UDP), the same with `tcp://` or `tls://` in front, or a URL for DNS over HTTPS. Results are not cached between checks.',
        examples: ['9.9.9.9', 'tls://dns.example.net', 'https://dns.example.net/dns-query'],
      }),
    ),
    proxy: Type.Optional(
      Shape(
        {
          url: Line({
            minLength: 1,
            maxLength: 2048,
            description:
              'Proxy URL: `http`, `https`, `socks4`, or `socks5`, with host and port. The proxy resolves the target itself.',
            examples: ['socks5://proxy.example.net:1080'],
          }),
          username: Type.Optional(Line({ minLength: 1, maxLength: 255, description: 'Username for the proxy.' })),
          password: Type.Optional(secret('Password for the proxy.')),
        },
        { description: 'Proxy to connect through. The network policy then applies to the proxy, not to the target.' },
      ),
    ),
    ssh_tunnel: Type.Optional(
      Shape(
        {
          host: Line({
            minLength: 1,
            maxLength: 253,
            description: 'Hostname or IP address of the SSH server.',
            examples: ['bastion.example.net'],
          }),
          port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, default: 22, description: 'Port of the SSH server.' })),
          username: Line({ minLength: 1, maxLength: 256, description: 'SSH username.', examples: ['probe'] }),
          password: Type.Optional(secret('SSH password. Set either this or `private_key`.')),
          private_key: Type.Optional(
            Prose({
              maxLength: 65_536,
              description: 'SSH private key, as written by `ssh-keygen`. Set either this or `password`.',
            }),
          ),
          passphrase: Type.Optional(secret('Passphrase of the private key, if it is encrypted.')),
          host_key: Type.String({
            pattern: '^SHA256:[A-Za-z0-9+/]{43}$',
            'x-rule': 'must be a fingerprint as printed by `ssh-keygen -l`: `SHA256:` and 43 Base64 characters.',
            description:
              'Fingerprint of the server’s host key, from `ssh-keyscan HOST | ssh-keygen -lf -`. If the server has several keys, Ed25519 is used first, then ECDSA, then RSA. With any other key, the check fails, and no password is sent.',
            examples: ['SHA256:LMaDLmkhQK58emNvEQLRLwD8eNWCXcwSl8BWeUWZ5OU'],
          }),
        },
        {
          description:
            'SSH server to connect through. It resolves and reaches the target itself, so the network policy applies to the SSH server.',
        },
      ),
    ),
  }),
})
export type HttpOptions = Static<typeof httpOptions>
export type HttpAuth = NonNullable<HttpOptions['auth']>
export type SshTunnel = NonNullable<HttpOptions['ssh_tunnel']>

/** The secret options. */
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

/** Options that decide where secrets are sent or which server is trusted. `Host` selects the site on a shared server. */
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
