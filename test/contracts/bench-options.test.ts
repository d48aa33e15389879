import { expect, test } from 'bun:test'
import { inTempFolder, runSource } from '../support/command'

test.each([
  ['webhooks', 'deliveries', 'foo'],
  ['webhooks', 'deliveries', '0'],
  ['webhooks', 'healthy', '-5'],
  ['webhooks', 'limit', '1.5'],
  ['heartbeats', 'connections', '99999999'],
  ['api', 'seconds', ''],
  ['store', 'seconds', '1e3'],
])('bench %s --%s %j is rejected before anything runs', async (bench, option, value) => {
  const { code, out, err } = await runSource(['bench', bench, `--${option}=${value}`])
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toContain('It must be a whole number from 1 to 10000000.')
})

test('bench cost rejects unknown operations', async () => {
  const { code, out, err } = await runSource(['bench', 'cost', '--only', 'get-nothing'])
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toContain('get-record')
})

test(
  'a benchmark prints nothing about the key of its temporary folder',
  () =>
    inTempFolder(async folder => {
      const { code, out, err } = await runSource(['bench', 'store', '--seconds', '1'], { TMPDIR: folder })
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toMatch(/^\S.* +\d/)
    }),
  180_000,
)
