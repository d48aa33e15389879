import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { diskState, scannedDevices, type DiskState } from './smart'

const dayMs = 86_400_000
const start = Date.parse('2026-11-27T10:00:00Z')

interface AtaOutput {
  exitStatus?: number
  passed?: boolean
  reallocated?: number
  timeouts?: number
  failed?: string
  messages?: string[]
}

/** The output of `smartctl --json -a` for an ATA disk. */
const ata = ({ exitStatus = 0, passed = true, reallocated = 0, timeouts = 0, failed = '', messages = [] }: AtaOutput = {}) =>
  JSON.stringify({
    json_format_version: [1, 0],
    smartctl: { version: [7, 3], exit_status: exitStatus, messages: messages.map(string => ({ string, severity: 'error' })) },
    device: { name: '/dev/sda', info_name: '/dev/sda [SAT]', type: 'sat', protocol: 'ATA' },
    model_name: 'WDC WD40EFRX-68N32N0',
    serial_number: 'WD-WCC7K0000001',
    smart_status: { passed },
    ata_smart_attributes: {
      revision: 16,
      table: [
        attribute(5, 'Reallocated_Sector_Ct', reallocated, failed),
        attribute(188, 'Command_Timeout', timeouts),
        attribute(194, 'Temperature_Celsius', 30),
      ],
    },
  })
const attribute = (id: number, name: string, value: number, failed = '') => ({
  id,
  name,
  value: failed ? 1 : 200,
  worst: 1,
  thresh: 140,
  when_failed: failed,
  flags: { value: 51, prefailure: id === 5 },
  raw: { value, string: String(value) },
})
const nvme = (log: object, passed = true) =>
  JSON.stringify({
    smartctl: { exit_status: 0 },
    device: { name: '/dev/nvme0', type: 'nvme', protocol: 'NVMe' },
    model_name: 'Samsung SSD 980 PRO 1TB',
    serial_number: 'S5GXNX0R000001',
    smart_status: { passed, nvme: { value: 0 } },
    nvme_smart_health_information_log: { critical_warning: 0, percentage_used: 3, media_errors: 0, ...log },
  })
const sleeping = JSON.stringify({
  smartctl: { exit_status: 2, messages: [{ string: 'Device is in STANDBY mode, exit(2)', severity: 'information' }] },
  device: { name: '/dev/sda' },
})

const read = (output: string, previous: DiskState[] = [], now = start) => diskState('/dev/sda', output, previous, now)
/** Warnings after several readings of the same disk. */
function warningsAfter(...readings: [output: string, at: number][]): string[] {
  let states: DiskState[] = []
  for (const [output, at] of readings) states = [read(output, states, start + at)]
  return states[0]!.disk.warnings
}

test('the data is read whatever the exit status', () => {
  for (let exitStatus = 0; exitStatus <= 255; exitStatus++)
    expect(read(ata({ exitStatus })).disk).toEqual({
      device: '/dev/sda',
      model: 'WDC WD40EFRX-68N32N0',
      serial: 'WD-WCC7K0000001',
      failing: false,
      warnings: [],
      error: null,
    })
})

test('a failing disk', () => {
  expect(read(ata({ passed: false, failed: 'now', exitStatus: 24 })).disk).toMatchObject({
    failing: true,
    warnings: ['The disk reports that it is failing.', 'Reallocated_Sector_Ct is 1, which is not above its threshold of 140.'],
    error: null,
  })
  expect(read(ata({ failed: 'past', exitStatus: 32 })).disk.failing).toBe(false)
})

test('errors that increase are reported for a week, errors of the past are not', () => {
  expect(warningsAfter([ata({ reallocated: 8 }), 0])).toEqual([])
  expect(warningsAfter([ata({ reallocated: 8 }), 0], [ata({ reallocated: 8 }), dayMs])).toEqual([])
  const grown: [string, number][] = [
    [ata({ reallocated: 8 }), 0],
    [ata({ reallocated: 9 }), dayMs],
  ]
  expect(warningsAfter(...grown)).toEqual(['Reallocated sectors increased from 8 to 9.'])
  expect(warningsAfter(...grown, [ata({ reallocated: 20 }), 7 * dayMs])).toEqual(['Reallocated sectors increased from 8 to 20.'])
  expect(warningsAfter(...grown, [ata({ reallocated: 9 }), 7.9 * dayMs])).toHaveLength(1)
  expect(warningsAfter(...grown, [ata({ reallocated: 9 }), 8 * dayMs])).toEqual([])
  // The upper bits of this attribute count something else.
  expect(warningsAfter([ata({ timeouts: 3 }), 0], [ata({ timeouts: 3 + 5 * 2 ** 32 }), dayMs])).toEqual([])
})

test('an NVMe disk that wears out', () => {
  expect(read(nvme({})).disk.warnings).toEqual([])
  expect(read(nvme({ critical_warning: 0b1001, percentage_used: 91 })).disk.warnings).toEqual([
    'The spare capacity is below its threshold.',
    'The disk only allows reading.',
    '91 % of the endurance is used.',
  ])
  expect(warningsAfter([nvme({}), 0], [nvme({ media_errors: 2 }), dayMs])).toEqual(['Media errors increased from 0 to 2.'])
})

test('a disk that sleeps keeps what was known', () => {
  const before = read(ata({ passed: false }))
  expect(read(sleeping, [before], start + dayMs)).toBe(before)
  expect(read(sleeping).disk).toMatchObject({ failing: false, error: 'Device is in STANDBY mode, exit(2)' })
})

test('a disk that can’t be read says why, and its counts are not forgotten', () => {
  const failure = JSON.stringify({
    smartctl: {
      exit_status: 2,
      messages: [{ string: 'Smartctl open device: /dev/sda failed: Permission denied', severity: 'error' }],
    },
  })
  expect(read(failure).disk).toEqual({
    device: '/dev/sda',
    model: null,
    serial: null,
    failing: false,
    warnings: [],
    error: 'Smartctl open device: /dev/sda failed: Permission denied',
  })
  expect(read('timeout').disk.error).toBe('smartctl did not finish within 30 seconds.')
  expect(read('').disk.error).toBe('The output of smartctl can’t be read.')
  expect(read('{}').disk.error).toBe('The disk provides no SMART data.')
  const noAttributes = JSON.stringify({ serial_number: 'WD-WCC7K0000001', smart_status: { passed: true } })
  expect(warningsAfter([ata({ reallocated: 8 }), 0], [noAttributes, 1], [ata({ reallocated: 9 }), dayMs])).toHaveLength(1)
})

test('any output gives a disk that can be reported', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), output => {
      const { disk } = read(output)
      expect([disk.failing, disk.error !== null]).toEqual([false, true])
    }),
  )
})

test('disks are found with their types', () => {
  const output =
    '{"devices":[{"name":"/dev/sda","info_name":"/dev/sda [SAT]","type":"sat","protocol":"ATA"},{"name":"/dev/bus/0","type":"megaraid,1"},{"open_error":"x"}]}'
  expect(scannedDevices(output)).toEqual([
    { name: '/dev/sda', type: 'sat' },
    { name: '/dev/bus/0', type: 'megaraid,1' },
  ])
  expect([scannedDevices('{"smartctl":{}}'), scannedDevices('Usage:')]).toEqual([[], null])
})
