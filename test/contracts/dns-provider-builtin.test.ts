import { expect, test } from 'bun:test'
import { builtinUnderTest } from '../support/builtin-under-test'
import { listed, op, outcomes, providerContract, rrset } from '../support/provider-contract'

providerContract('builtin', builtinUnderTest)

test('builtin does not overwrite changes made between reading a zone and changing it', async () => {
  const here = await builtinUnderTest()
  try {
    const name = await here.makeZone()
    const zone = (await here.provider.findZone(name))!
    const before = (await here.look(name)).length
    const theirs = rrset('www', 'A', 300, ['198.51.100.7'])
    here.interrupt(() => here.changeExternally(name, 'www', 'A', 300, ['198.51.100.7']))
    const steps = [op(null, rrset('www', 'A', 300, ['192.0.2.1'])), op(null, rrset('other', 'A', 300, ['192.0.2.2']))]
    expect(outcomes(await here.provider.apply(zone, steps))).toEqual(['stale', 'stale'])
    const there = listed(await here.look(name))
    expect([there.length, there]).toEqual([before + 1, expect.arrayContaining(listed([theirs]))])
  } finally {
    await here.stop()
  }
})
