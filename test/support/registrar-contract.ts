import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock'
import { readAccount } from '../../src/features/registrars/read-account'
import { RegistrarError, type Registrar } from '../../src/features/registrars/registrar'
import type { RegistrarDouble } from './registrar-double'

// Promises of every kind of registrar, tested with a double on the shared registry.

/** An account at a registrar, which a suite can also change directly. */
export interface RegistrarUnderTest {
  double: Pick<RegistrarDouble, 'hold' | 'registry' | 'registrar' | 'listedLate' | 'isHalved' | 'premium' | 'settings'>
  /** Opens the account; requests time out within seconds. */
  registrar: Registrar
  /** The same account with a wrong credential. */
  unauthorized: Registrar
  /** The same account at an address where nothing listens. */
  unreachable: Registrar
  /** Whether the registrar doesn’t report which domains renew by themselves. */
  hidesAutoRenew?: boolean
  /** Whether the registrar doesn’t report nameservers. */
  hidesNameservers?: boolean
  /** Whether the registrar reports days without a time. */
  hasDays?: boolean
  /** Domains per page of the list. */
  pageSize: number
  /** A name that can be registered, and its price. */
  offered: { name: string; price: { minor: number; currency: string } }
  /** Credentials, which no message contains. */
  secrets: readonly string[]
  /** Simulated failures of all requests, until `calm`. */
  trouble: Record<'throttle' | 'refuse' | 'fail' | 'fallSilent' | 'cut' | 'showPage' | 'calm', () => unknown>
  stop(): Promise<void> | void
}

/** Failures of a double of an API. @param secret that it echoes */
export const apiTrouble = (double: RegistrarDouble, secret: string): RegistrarUnderTest['trouble'] => ({
  throttle: () => (double.fault = () => 'throttled'),
  refuse: () => (double.fault = () => ({ status: 400, code: 'UNKNOWN', message: `Refused for ${secret}` })),
  fail: () => (double.fault = () => ({ raw: { status: 503, body: '' } })),
  fallSilent: () => (double.fault = () => 'silent'),
  cut: () => (double.fault = () => 'cut'),
  showPage: () => (double.fault = () => ({ raw: { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } } })),
  calm: () => (double.fault = () => null),
})

/** Runs the contract of reading. */
export function registrarContract(title: string, start: () => Promise<RegistrarUnderTest>): void {
  describe(title, () => {
    let here: RegistrarUnderTest
    beforeAll(async () => {
      here = await start()
    })
    afterEach(() => {
      here.trouble.calm()
      here.double.registry.names.clear()
      here.double.listedLate.clear()
      here.double.isHalved = false
    })
    afterAll(async () => {
      await here?.stop()
    })

    const namesOf = async () => (await readAccount(here.registrar, systemClock)).map(one => one.name).sort()
    /** Every call that reads. */
    const calls = (registrar: Registrar): [string, Promise<unknown>][] => [
      ['check', registrar.check()],
      ['list', registrar.list(null)],
      ['read', registrar.read('one.com')],
      ['offers', registrar.offers(['free.com'])],
    ]
    const failuresOf = (registrar: Registrar) =>
      Promise.all(calls(registrar).map(async ([call, result]) => [call, await errorOf(result)] as const))
    const expectFailure = async (registrar: Registrar, failures: readonly string[]) => {
      for (const [call, error] of await failuresOf(registrar)) {
        expect([call, failures.includes(error.failure) ? 'as expected' : error.failure]).toEqual([call, 'as expected'])
        expect(error.message).not.toContain('\n')
        expect(here.secrets.filter(one => error.message.includes(one))).toEqual([])
      }
    }

    test('can be checked, and reports the currency', async () => {
      const { detail, currency } = await here.registrar.check()
      expect(detail).not.toBe('')
      expect(currency).toBe(here.offered.price.currency)
    })

    test('reads all pages of the account, and only its own domains', async () => {
      const names = Array.from({ length: here.pageSize * 2 + 1 }, (_, n) => `n${n}.com`).sort()
      for (const name of names) here.double.hold(name)
      here.double.registry.names.set('other.com', { registrar: 'Another Registrar' })
      expect(await namesOf()).toEqual(names)
      // The last page is full.
      here.double.registry.names.delete(names.at(-1)!)
      expect(await namesOf()).toEqual(names.slice(0, -1))
      here.double.registry.names.clear()
      expect(await namesOf()).toEqual([])
    })

    test('reports the facts of a domain', async () => {
      here.double.hold(
        'one.com',
        {
          registered: '2019-04-02T10:11:12Z',
          expires: '2027-04-02T10:11:12Z',
          nameservers: ['ns1.example.net', 'ns2.example.net'],
        },
        { autoRenew: true, locked: false },
      )
      const [listed] = await readAccount(here.registrar, systemClock)
      const read = await here.registrar.read('one.com')
      for (const one of [listed!, read!])
        expect(one).toMatchObject({
          name: 'one.com',
          status: 'active',
          registeredAt: Date.parse(here.hasDays ? '2019-04-02' : '2019-04-02T10:11:12Z'),
          expiresAt: Date.parse(here.hasDays ? '2027-04-02' : '2027-04-02T10:11:12Z'),
          autoRenew: here.hidesAutoRenew ? null : true,
        })
      expect(read!.nameservers).toEqual(here.hidesNameservers ? null : ['ns1.example.net', 'ns2.example.net'])
    })

    test('takes names in A-labels and with 63 octets', async () => {
      const names = [`${'a'.repeat(63)}.com`, 'xn--bcher-kva.com']
      for (const name of names) here.double.hold(name)
      expect(await namesOf()).toEqual(names)
      expect((await here.registrar.read('xn--bcher-kva.com'))?.name).toBe('xn--bcher-kva.com')
    })

    test('tells a domain that is not in the account from a failure', async () => {
      here.double.registry.names.set('other.com', { registrar: 'Another Registrar' })
      expect(await here.registrar.read('other.com')).toBeNull()
      expect(await here.registrar.read('unregistered.com')).toBeNull()
    })

    test('reads what a name costs, and whether it can be registered', async () => {
      here.double.hold('one.com')
      const [offer] = await here.registrar.offers([here.offered.name])
      expect(offer).toMatchObject({
        name: here.offered.name,
        available: true,
        price: here.offered.price,
        reason: null,
        premium: false,
      })
      const [taken] = await here.registrar.offers(['one.com'])
      expect(taken).toMatchObject({ name: 'one.com', available: false })
      expect(taken!.reason).not.toBe('')
    })

    test('distinguishes failures, and never takes them for an empty account', async () => {
      here.double.hold('one.com')
      here.trouble.throttle()
      await expectFailure(here.registrar, ['throttled'])
      for (const [, error] of await failuresOf(here.registrar)) expect(error.retryAfterMs).toBeGreaterThan(0)
      here.trouble.refuse()
      await expectFailure(here.registrar, ['refused'])
      here.trouble.fail()
      await expectFailure(here.registrar, ['unreachable'])
      here.trouble.cut()
      await expectFailure(here.registrar, ['incomplete'])
      here.trouble.showPage()
      await expectFailure(here.registrar, ['invalid_response', 'unreachable'])
      here.trouble.fallSilent()
      await expectFailure(here.registrar, ['timeout'])
    })

    test('reports a wrong credential, without the credential', async () => {
      await expectFailure(here.unauthorized, ['unauthorized'])
    })

    test('knows that nothing was sent if the registrar can’t be reached', async () => {
      await expectFailure(here.unreachable, ['unreachable'])
      for (const [, error] of await failuresOf(here.unreachable)) expect(error.sent).toBe(false)
    })

    test('doesn’t take dates that can’t be dates of a registration', async () => {
      here.double.hold('one.com', { registered: '0001-01-01T00:00:00Z', expires: '9999-12-31T23:59:59Z' })
      const [listed] = await readAccount(here.registrar, systemClock)
      expect([listed!.registeredAt, listed!.expiresAt]).toEqual([null, null])
    })

    test('can be missing domains that were just bought, and shrink', async () => {
      for (const name of ['one.com', 'three.com', 'two.com']) here.double.hold(name)
      here.double.listedLate.add('one.com')
      expect(await namesOf()).toEqual(['three.com', 'two.com'])
      here.double.listedLate.clear()
      here.double.isHalved = true
      expect(await namesOf()).toEqual(['one.com', 'two.com'])
    })
  })
}

async function errorOf(result: Promise<unknown>): Promise<RegistrarError> {
  const [outcome] = await Promise.allSettled([result])
  if (outcome.status === 'rejected' && outcome.reason instanceof RegistrarError) return outcome.reason
  throw new Error(
    `Expected a RegistrarError, not ${outcome.status === 'rejected' ? outcome.reason : JSON.stringify(outcome.value)}`,
  )
}
