import { expect, test } from 'bun:test'
import { FetchFailed } from '../../../../core/net/fetch-failure'
import { ManualClock } from '../../../../../test/support/manual-clock'
import { pluginContext } from '../../../../../test/support/plugin-context'
import { joinIncus } from './join'

test('addresses that do not respond are given up after half a minute', async () => {
  const clock = new ManualClock()
  const asked: string[] = []
  const around = {
    ...pluginContext(),
    clock,
    async request({ url }: { url: string }, { totalMs = Infinity } = {}): Promise<never> {
      asked.push(url)
      clock.jump(totalMs)
      throw new FetchFailed('timeout', 'No response.', {} as never)
    },
  }
  const addresses = Array.from({ length: 16 }, (_, at) => `192.0.2.${at + 1}:8443`)
  const token = { client_name: 'bailiwick', fingerprint: 'ab'.repeat(32), addresses, secret: 'x', expires_at: null }
  const trust_token = Buffer.from(JSON.stringify(token)).toString('base64')
  const [before, failed] = [clock.now(), joinIncus({ trust_token } as never, around)]
  expect(failed).rejects.toMatchObject({ failure: 'unreachable' })
  await failed.catch(() => {})
  expect([clock.now() - before, asked.length]).toEqual([30_000, 6])
})
