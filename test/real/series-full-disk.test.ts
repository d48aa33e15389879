import { hourOf } from '../../src/core/db/series/hours'
import { checksOf } from '../../src/features/monitors/series/check-series'
import { afterEach, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seriesKinds } from '../../src/features/series-kinds'
import { openSeries } from '../../src/core/db/series'
import { isPostgres } from '../../src/core/db/dialect'
import { maxWaiting, recorderOf } from '../../src/features/monitors/series/recorder'
import { resultBeat } from '../support/monitor-series'
import { canMount, smallDisk, unmountDisks } from '../support/small-disk'
import { world } from '../support/world'

afterEach(unmountDisks)

test.skipIf(isPostgres || !canMount)(
  'on a full disk, results are buffered in memory, readiness fails, and nothing is lost once there is space',
  async () => {
    const w = await world()
    const { hub, clock, anonymous } = w
    const disk = smallDisk(4)!
    hub.series = openSeries({ data: disk, databaseUrl: null, now: clock.now }, seriesKinds)
    const recorder = recorderOf(hub)
    const ballast = join(disk, 'ballast')
    try {
      recorder.add(resultBeat(0, clock.now()))
      await recorder.flush()
      writeFileSync(ballast, Buffer.alloc(3 * 1024 * 1024))
      let n = 1
      for (; n < maxWaiting / 4 && recorder.trouble() === null; n += 2000) {
        for (let at = n; at < n + 2000; at++) recorder.add(resultBeat(at % 1000, clock.now() + at))
        await recorder.flush()
      }
      expect(recorder.trouble()).toContain('disk')
      clock.advance(1000)
      expect((await anonymous.call('GET', '/readyz')).body.checks.storage.status).toBe('failing')
      // Other data is not affected.
      expect((await w.acme.call('GET', '/v1/monitors')).status).toBe(200)
      rmSync(ballast)
      await recorder.flush()
      expect(recorder.trouble()).toBeNull()
      let stored = 0
      for await (const some of checksOf(hub).rowsOf(hourOf(clock.now()), null)) stored += some.length
      expect(stored).toBe(n)
    } finally {
      await hub.series.close()
    }
  },
  180_000,
)
