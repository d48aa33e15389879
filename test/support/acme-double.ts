import { createHash, createHmac, createPublicKey, generateKeyPairSync, randomBytes, verify, X509Certificate } from 'node:crypto'
import acme from 'acme-client'
import { ownCertificate } from './own-certificate'

const dayMs = 86_400_000
const ordersPerPage = 50

interface Account {
  url: string
  jwk: JsonWebKey
  status: string
  contact: string[]
  eab: string | null
}

interface Order {
  id: string
  account: string
  names: string[]
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'
  authorizations: string[]
  pem: string | null
  error: object | null
  replaces: string | null
  profile: string | null
  /** Number of times that it is still reported as `processing`. */
  delays: number
}

interface Authorization {
  name: string
  isWildcard: boolean
  account: string
  status: 'pending' | 'valid' | 'invalid'
  token: string
  error: object | null
}

/** What the certificate authority does wrong. */
export interface AcmeTrouble {
  /** Refuses each nth nonce, or all with 1. */
  badNonceEvery?: number
  /** Redirects requests to this path. */
  redirects?: string
  /** Sends HTML at this path. */
  html?: string
  forgetsOrders?: boolean
  otherNames?: boolean
  otherKey?: boolean
  /** Rejects this many new orders because of rate limits. */
  rateLimited?: number
  /** Sends server errors or HTML as responses to this many requests for a path, instead of handling them. */
  failing?: { path: string; times: number; as: 'html' | '403' | '502' | 'serverInternal' }
  /** Closes the connection for requests to this path, after handling them. */
  cuts?: string
}

/** A certificate authority with ACME (RFC 8555), which checks what clients send. */
export class AcmeDouble {
  readonly requests: string[] = []
  readonly issued: { names: string[]; pem: string; order: string }[] = []
  readonly revoked: { der: Buffer; reason: number | undefined }[] = []
  readonly accounts = new Map<string, Account>()
  readonly orders = new Map<string, Order>()
  readonly authorizations = new Map<string, Authorization>()
  trouble: AcmeTrouble = {}
  terms: string | null = 'https://ca.example/terms'
  /** Keys of external accounts in base64url, by their ID. Accounts need one if there are any. */
  externalAccounts: Record<string, string> = {}
  caaIdentities: string[] = ['ca.example']
  lifetimeMs = 90 * dayMs
  /** Suggested window of renewals, relative to the current time. */
  renewalWindow: { start: number; end: number } | null = null
  /** Number of times that a finalized order is reported as `processing`. */
  processing = 0
  /** Seconds until clients look at an order again. */
  retryAfter = 3
  /** Called before each request is handled, and before its response is sent. */
  watch: (path: string, isHandled: boolean) => void | Promise<void> = () => {}
  /** Returns the TXT values of a name. */
  lookUp: (name: string) => Promise<string[]> = async () => []
  now: () => number = Date.now
  readonly ca: string
  #signer = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  #keyId = randomBytes(20)
  #nonces = new Set<string>()
  #posts = 0
  #server: ReturnType<typeof Bun.serve>

  constructor() {
    const lifetime = { from: Date.now() - dayMs, until: Date.now() + 30 * dayMs }
    const own = ownCertificate({ names: ['localhost'], isOwnIssuer: true, ...lifetime })
    this.ca = own.pem
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      // Otherwise, a slow machine loses connections whose requests were handled, and clients repeat them.
      idleTimeout: 0,
      tls: { cert: own.pem, key: own.key },
      fetch: request => this.#serve(request),
    })
  }

  get url(): string {
    return `https://localhost:${this.#server.port}`
  }

  get directoryUrl(): string {
    return `${this.url}/directory`
  }

  stop(): void {
    void this.#server.stop(true)
  }

  async #serve(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const body = await request.text()
    this.requests.push(`${request.method} ${pathname}`)
    await this.watch(pathname, false)
    const { redirects, html, cuts, failing } = this.trouble
    if (failing && failing.times > 0 && pathname.startsWith(failing.path)) {
      failing.times--
      if (failing.as === 'serverInternal') return problem('serverInternal', 'The database is down.', 500)
      return new Response('<html><body>Wait.</body></html>', { status: failing.as === 'html' ? 200 : Number(failing.as) })
    }
    if (redirects && pathname.startsWith(redirects))
      return new Response(null, { status: 302, headers: { location: `${this.url}/elsewhere` } })
    if (html && pathname.startsWith(html))
      return new Response('<html><body>It works!</body></html>', { headers: { 'content-type': 'text/html' } })
    const response = await this.#handle(request.method, pathname, body)
    response.headers.set('replay-nonce', this.#nonce())
    await this.watch(pathname, true)
    if (!cuts || !pathname.startsWith(cuts)) return response
    return new Response(new ReadableStream({ pull: controller => controller.error(new Error('cut')) }), {
      headers: { 'content-length': '1000' },
    })
  }

  #nonce(): string {
    const nonce = randomBytes(16).toString('base64url')
    this.#nonces.add(nonce)
    return nonce
  }

  async #handle(method: string, path: string, body: string): Promise<Response> {
    if (path === '/directory') return Response.json(this.#directory())
    if (path === '/nonce') return new Response(null, { status: 204 })
    if (path.startsWith('/renewal/')) return this.#renewalInfo()
    if (method !== 'POST') return problem('malformed', 'Only POST is allowed.', 405)
    const { protected: head, payload, signature } = JSON.parse(body) as Record<string, string>
    const header = JSON.parse(Buffer.from(head!, 'base64url').toString())
    this.#posts++
    const { badNonceEvery } = this.trouble
    if (!this.#nonces.delete(header.nonce) || (badNonceEvery && this.#posts % badNonceEvery === 0))
      return problem('badNonce', 'The nonce is not valid.')
    if (header.url !== `${this.url}${path}`) return problem('malformed', 'The URL of the signature is another one.')
    const account = this.accounts.get(header.kid)
    const jwk: JsonWebKey | undefined = header.jwk ?? account?.jwk
    if (!jwk) return problem('accountDoesNotExist', 'There is no such account.')
    const isSigned = verify(
      'sha256',
      Buffer.from(`${head}.${payload}`),
      { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature!, 'base64url'),
    )
    if (!isSigned) return problem('malformed', 'The signature is wrong.')
    const data = payload === '' ? null : JSON.parse(Buffer.from(payload!, 'base64url').toString())
    if (path === '/account') return this.#newAccount(jwk, data)
    if (path === '/revoke') return this.#revoke(data, account)
    if (!account || account.status !== 'valid') return problem('unauthorized', 'The account is not valid.', 403)
    if (path.startsWith('/orders/')) return this.#listOrders(Number(path.split('/')[3]))
    if (path.startsWith('/account/')) return this.#updateAccount(account, data)
    if (path === '/order') return this.#newOrder(account, data)
    const [, kind, id] = path.split('/')
    if (kind === 'authorization') return this.#authorization(id!)
    if (kind === 'challenge') return await this.#challenge(id!, account)
    const order = this.trouble.forgetsOrders ? undefined : this.orders.get(id!)
    if (!order) return problem('malformed', 'There is no such order.', 404)
    if (order.account !== account.url) return problem('unauthorized', 'The order is one of another account.', 403)
    if (kind === 'finalize') return this.#finalize(order, data)
    if (kind === 'certificate')
      return new Response(order.pem, { headers: { 'content-type': 'application/pem-certificate-chain' } })
    if (order.status === 'processing' && order.delays-- <= 0) order.status = 'valid'
    return this.#order(order)
  }

  #directory() {
    return {
      newNonce: `${this.url}/nonce`,
      newAccount: `${this.url}/account`,
      newOrder: `${this.url}/order`,
      revokeCert: `${this.url}/revoke`,
      keyChange: `${this.url}/key-change`,
      ...(this.renewalWindow && { renewalInfo: `${this.url}/renewal` }),
      meta: {
        ...(this.terms && { termsOfService: this.terms }),
        externalAccountRequired: Object.keys(this.externalAccounts).length > 0,
        caaIdentities: this.caaIdentities,
        profiles: { classic: '90 days', shortlived: '6 days' },
      },
    }
  }

  #newAccount(jwk: JsonWebKey, data: any): Response {
    const known = [...this.accounts.values()].find(one => thumbprint(one.jwk) === thumbprint(jwk))
    if (known) return accountResponse(known, 200)
    if (data.onlyReturnExisting) return problem('accountDoesNotExist', 'There is no such account.')
    if (this.terms && data.termsOfServiceAgreed !== true) return problem('userActionRequired', 'Agree to the terms.', 403)
    if (data.contact?.some((one: string) => one.endsWith('@invalid.example')))
      return problem('invalidContact', 'The contact is not valid.')
    const eab = this.#externalAccount(data.externalAccountBinding, jwk)
    if (eab instanceof Response) return eab
    const account: Account = {
      url: `${this.url}/account/${this.accounts.size + 1}`,
      jwk,
      status: 'valid',
      contact: data.contact ?? [],
      eab,
    }
    this.accounts.set(account.url, account)
    return accountResponse(account, 201)
  }

  #externalAccount(binding: any, jwk: JsonWebKey): string | null | Response {
    if (Object.keys(this.externalAccounts).length === 0) return null
    if (!binding) return problem('externalAccountRequired', 'An external account is required.', 403)
    const { kid } = JSON.parse(Buffer.from(binding.protected, 'base64url').toString())
    const key = this.externalAccounts[kid]
    const mac = key && createHmac('sha256', Buffer.from(key, 'base64url')).update(`${binding.protected}.${binding.payload}`)
    const bound = JSON.parse(Buffer.from(binding.payload, 'base64url').toString())
    if (!mac || mac.digest('base64url') !== binding.signature || thumbprint(bound) !== thumbprint(jwk))
      return problem('unauthorized', 'The external account binding is wrong.', 403)
    return kid
  }

  /** A page of orders, as Pebble lists them. */
  #listOrders(page: number): Response {
    const urls = [...this.orders.keys()].map(id => `${this.url}/order/${id}`)
    const from = (page - 1) * ordersPerPage
    const headers = new Headers({ link: `<${this.directoryUrl}>;rel="index"` })
    if (urls.length > from + ordersPerPage) headers.append('link', `</orders/1/${page + 1}>;rel="next"`)
    return Response.json({ orders: urls.slice(from, from + ordersPerPage) }, { headers })
  }

  #updateAccount(account: Account, data: any): Response {
    if (data?.contact) account.contact = data.contact
    if (data?.status === 'deactivated') account.status = 'deactivated'
    return accountResponse(account, 200)
  }

  #newOrder(account: Account, data: any): Response {
    if (this.trouble.rateLimited) {
      this.trouble.rateLimited--
      return problem('rateLimited', 'Too many certificates.', 429, { 'retry-after': '7200' })
    }
    const names: string[] = data.identifiers.map((one: any) => one.value)
    const refused = names.find(name => name.endsWith('.refused.example'))
    if (refused) return problem('rejectedIdentifier', `The name ${refused} is not allowed.`)
    const id = String(this.orders.size + 1)
    const authorizations = names.map((name, at) => {
      const bare = name.replace(/^\*\./, '')
      const token = randomBytes(20).toString('base64url')
      const one = { name: bare, isWildcard: bare !== name, account: account.url, status: 'pending', token, error: null } as const
      this.authorizations.set(`${id}-${at}`, { ...one })
      return `${id}-${at}`
    })
    const order: Order = {
      ...{ id, account: account.url, names, status: 'pending', authorizations, pem: null, error: null, delays: 0 },
      replaces: data.replaces ?? null,
      profile: data.profile ?? null,
    }
    this.orders.set(id, order)
    return this.#order(order, 201)
  }

  #order(order: Order, status = 200): Response {
    const states = order.authorizations.map(id => this.authorizations.get(id)!.status)
    if (order.status === 'pending' && states.includes('invalid')) order.status = 'invalid'
    if (order.status === 'pending' && states.every(one => one === 'valid')) order.status = 'ready'
    return Response.json(
      {
        status: order.status,
        expires: new Date(this.now() + 7 * dayMs).toISOString(),
        identifiers: order.names.map(value => ({ type: 'dns', value })),
        authorizations: order.authorizations.map(id => `${this.url}/authorization/${id}`),
        finalize: `${this.url}/finalize/${order.id}`,
        ...(order.status === 'valid' && { certificate: `${this.url}/certificate/${order.id}` }),
        ...(order.error && { error: order.error }),
      },
      { status, headers: { location: `${this.url}/order/${order.id}`, 'retry-after': String(this.retryAfter) } },
    )
  }

  #authorization(id: string): Response {
    const one = this.authorizations.get(id)
    if (!one) return problem('malformed', 'There is no such authorization.', 404)
    const challenge = (type: string) => ({
      type,
      url: `${this.url}/challenge/${id}`,
      token: one.token,
      status: one.status,
      ...(one.error && { error: one.error }),
    })
    return Response.json({
      identifier: { type: 'dns', value: one.name },
      status: one.status,
      ...(one.isWildcard && { wildcard: true }),
      challenges: [challenge('dns-01'), ...(one.isWildcard ? [] : [challenge('http-01')])],
    })
  }

  async #challenge(id: string, account: Account): Promise<Response> {
    const one = this.authorizations.get(id)!
    if (one.status === 'pending') {
      const wanted = createHash('sha256')
        .update(`${one.token}.${thumbprint(account.jwk)}`)
        .digest('base64url')
      const found = await this.lookUp(`_acme-challenge.${one.name}`)
      one.status = found.includes(wanted) ? 'valid' : 'invalid'
      if (one.status === 'invalid')
        one.error = { type: 'urn:ietf:params:acme:error:dns', detail: `No TXT record of ${one.name} has the expected value.` }
    }
    return Response.json({ type: 'dns-01', url: `${this.url}/challenge/${id}`, token: one.token, status: one.status })
  }

  #finalize(order: Order, data: any): Response {
    if (order.status !== 'ready') return problem('orderNotReady', 'The order is not ready.', 403)
    const csr = Buffer.from(data.csr, 'base64url')
    const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${csr.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
    const { altNames } = acme.crypto.readCsrDomains(pem)
    if (altNames.toSorted().join() !== order.names.toSorted().join()) return problem('badCSR', 'The names differ.')
    const { pem: leaf } = ownCertificate({
      names: this.trouble.otherNames ? ['other.example'] : order.names,
      issuer: 'Example CA',
      from: this.now() - 3_600_000,
      until: this.now() - 3_600_000 + this.lifetimeMs,
      ...(this.trouble.otherKey ? {} : { spki: spkiOf(csr) }),
      signer: this.#signer,
      authorityKeyId: this.#keyId,
    })
    order.pem = leaf + this.ca
    order.delays = this.processing
    order.status = this.processing > 0 ? 'processing' : 'valid'
    this.issued.push({ names: order.names, pem: leaf, order: order.id })
    return this.#order(order)
  }

  #revoke({ certificate, reason }: any, account: Account | undefined): Response {
    const der = Buffer.from(certificate, 'base64url')
    const found = this.issued.find(one => new X509Certificate(one.pem).raw.equals(der))
    if (!found || this.orders.get(found.order)!.account !== account?.url)
      return problem('unauthorized', 'The certificate is one of another account.', 403)
    this.revoked.push({ der, reason })
    return new Response(null, { status: 200 })
  }

  #renewalInfo(): Response {
    if (!this.renewalWindow) return problem('malformed', 'There is no renewal information.', 404)
    const at = (ms: number) => new Date(this.now() + ms).toISOString()
    return Response.json(
      { suggestedWindow: { start: at(this.renewalWindow.start), end: at(this.renewalWindow.end) } },
      { headers: { 'retry-after': '21600' } },
    )
  }
}

const accountResponse = ({ url, status, contact }: Account, code: number) =>
  Response.json(
    { status, contact, orders: `${url.replace('/account/', '/orders/')}/1` },
    { status: code, headers: { location: url } },
  )

const problem = (type: string, detail: string, status = 400, headers: Record<string, string> = {}) =>
  Response.json(
    { type: `urn:ietf:params:acme:error:${type}`, detail, status },
    { status, headers: { ...headers, 'content-type': 'application/problem+json' } },
  )

/** RFC 7638. */
function thumbprint({ crv, kty, x, y, e, n }: JsonWebKey): string {
  const members = kty === 'EC' ? { crv, kty, x, y } : { e, kty, n }
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url')
}

/** The public key in a certificate request: the third part of its first part (RFC 2986 section 4). */
function spkiOf(csr: Buffer): Buffer {
  const [info] = elementsOf(csr.subarray(headerOf(csr).length))
  return elementsOf(info!.subarray(headerOf(info!).length))[2]!
}

function elementsOf(content: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < content.length;) {
    const { length, size } = headerOf(content.subarray(at))
    found.push(content.subarray(at, at + length + size))
    at += length + size
  }
  return found
}

/** Length of the header of a DER element, and of its content. */
function headerOf(bytes: Buffer): { length: number; size: number } {
  const first = bytes[1]!
  if (first < 0x80) return { length: 2, size: first }
  const octets = first & 0x7f
  return { length: 2 + octets, size: bytes.readUIntBE(2, octets) }
}
