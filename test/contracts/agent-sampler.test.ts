import { expect, test } from 'bun:test'
import { Root } from '../../src/agent/sample/root'
import { Sampler } from '../../src/agent/sample/sampler'
import { metricUnits } from '../../src/features/servers/metrics/names'
import { MachineFiles } from '../support/machine-files'

const start = Date.parse('2026-11-27T10:00:00Z')
const sampleMs = 10_000

/** A server with one device of each kind, `turn` samples after its start. */
const files = (turn: number): Record<string, string> => ({
  'proc/stat': `cpu  ${turn * 500} 0 ${turn * 100} ${turn * 400} ${turn * 20} 0 0 ${turn * 5}\nprocs_running 2\n`,
  'proc/loadavg': '0.50 0.40 0.30 1/200 4711\n',
  'proc/meminfo': 'MemTotal: 1000 kB\nMemAvailable: 600 kB\nCached: 300 kB\nSwapTotal: 500 kB\nSwapFree: 400 kB\n',
  'proc/spl/kstat/zfs/arcstats': 'size 4 100\n',
  'proc/vmstat': `pswpin ${turn}\npswpout ${turn}\n`,
  'proc/sys/fs/file-nr': '100\t0\t1000\n',
  'proc/pressure/cpu': `some avg10=0.00 total=${turn * 1e6}\n`,
  'proc/pressure/memory': `some avg10=0.00 total=${turn * 1e6}\nfull avg10=0.00 total=${turn * 1e6}\n`,
  'proc/pressure/io': `some avg10=0.00 total=${turn * 1e6}\nfull avg10=0.00 total=${turn * 1e6}\n`,
  'proc/1/net/snmp': `Tcp: CurrEstab RetransSegs\nTcp: 7 ${turn}\n`,
  'proc/1/net/tcp':
    'sl local_address\n 0: 00000000:0016 00000000:0000 0A 0\n 1: 0100007F:1F90 0100007F:C350 01 0\n 2: 00000000:0050 00000000:0000 0A 0\n',
  'proc/1/net/tcp6': 'sl local_address\n 0: 00000000000000000000000000000000:0016 0:0000 0A 0\n',
  'proc/1/net/dev': `Inter-|\n face |\n${interfaceLine('eth0', turn)}${interfaceLine('lo', turn)}${interfaceLine('veth12', turn)}${interfaceLine('eth1', 0)}`,
  'proc/1/stat': '1 (systemd) S 0 1 1\n',
  'proc/4711/stat': '4711 (a) Z) (R) Z 1 1 1\n',
  'proc/diskstats':
    diskLine('sda', turn) + diskLine('sda1', turn) + diskLine('loop0', turn) + diskLine('dm-0', turn) + diskLine('sdb', turn),
  'sys/block/sda/size': '2000\n',
  'sys/block/loop0/size': '2000\n',
  'sys/block/sdb/size': '0\n',
  'sys/block/dm-0/size': '1000\n',
  'sys/block/dm-0/slaves/sda1': '',
  'sys/class/hwmon/hwmon0/name': 'coretemp\n',
  'sys/class/hwmon/hwmon0/temp1_input': '45500\n',
  'sys/class/hwmon/hwmon0/temp1_label': 'Package id 0\n',
  'sys/class/hwmon/hwmon0/temp2_input': '-273000\n',
  'sys/class/hwmon/hwmon0/fan1_input': '1200\n',
  'sys/class/hwmon/hwmon1/name': 'nvme\n',
  'sys/class/hwmon/hwmon1/device': '→ ../../nvme0',
  'sys/class/hwmon/hwmon1/temp1_input': '30000\n',
  'sys/class/hwmon/hwmon2/name': 'nvme\n',
  'sys/class/hwmon/hwmon2/device': '→ ../../nvme1',
  'sys/class/hwmon/hwmon2/temp1_input': '31000\n',
  'sys/class/power_supply/BAT0/type': 'Battery\n',
  'sys/class/power_supply/BAT0/capacity': '80\n',
  'sys/class/power_supply/mouse/type': 'Battery\n',
  'sys/class/power_supply/mouse/scope': 'Device\n',
  'sys/class/power_supply/mouse/capacity': '20\n',
})
const interfaceLine = (name: string, turn: number) =>
  `  ${name}: ${[1000, 10, 1, 2, 0, 0, 0, 0, 2000, 20, 3, 4, 0, 0, 0, 0].map(one => one * turn).join(' ')}\n`
const diskLine = (name: string, turn: number) =>
  ` 8 0 ${name} ${[10, 0, 20, 30, 40, 0, 50, 60, 0, 5000, 0].map(one => one * turn).join(' ')}\n`

/** Takes samples of a server, each ten seconds after the other, with the files of the server at that time. */
async function samplesOf(turns: Record<string, string>[]) {
  using machine = new MachineFiles()
  let seconds = 0
  const sampler = new Sampler(new Root(machine.folder), null, true, () => seconds)
  const found: ReadonlyMap<string, number>[] = []
  for (const [turn, text] of turns.entries()) {
    machine.write(text)
    seconds = turn * 10
    await sampler.sample(start + turn * sampleMs)
    found.push(sampler.latest)
  }
  return { found, problems: sampler.problems, minute: sampler.end() }
}

test('all metrics are measured', async () => {
  const { found, problems, minute } = await samplesOf([files(1), files(2)])
  expect({ ...Object.fromEntries(found[0]!), ...Object.fromEntries(found[1]!) }).toEqual({
    'cpu.used_percent': expect.closeTo((100 * 605) / 1025),
    'cpu.user_percent': expect.closeTo((100 * 500) / 1025),
    'cpu.system_percent': expect.closeTo((100 * 100) / 1025),
    'cpu.iowait_percent': expect.closeTo((100 * 20) / 1025),
    'cpu.steal_percent': expect.closeTo((100 * 5) / 1025),
    'load.1': 0.5,
    'load.5': 0.4,
    'load.15': 0.3,
    'pressure.cpu_some_percent': 10,
    'pressure.memory_some_percent': 10,
    'pressure.memory_full_percent': 10,
    'pressure.io_some_percent': 10,
    'pressure.io_full_percent': 10,
    'memory.used_bytes': 400 * 1024,
    'memory.available_bytes': 600 * 1024,
    'memory.cached_bytes': 300 * 1024,
    'memory.arc_bytes': 100,
    'swap.used_bytes': 100 * 1024,
    'swap.size_bytes': 500 * 1024,
    'swap.in_bytes_per_second': 409.6,
    'swap.out_bytes_per_second': 409.6,
    'files.open': 100,
    'tcp.established': 7,
    'tcp.listening': 2,
    'tcp.retransmits_per_second': 0.1,
    'processes.count': 2,
    'processes.running': 2,
    'processes.zombies': 1,
    'network.received_bytes_per_second:eth0': 100,
    'network.sent_bytes_per_second:eth0': 200,
    'network.received_packets_per_second:eth0': 1,
    'network.sent_packets_per_second:eth0': 2,
    'network.errors_per_second:eth0': 0.4,
    'network.drops_per_second:eth0': 0.6,
    'disk.read_bytes_per_second:sda': 1024,
    'disk.write_bytes_per_second:sda': 2560,
    'disk.read_operations_per_second:sda': 1,
    'disk.write_operations_per_second:sda': 4,
    'disk.busy_percent:sda': 50,
    'disk.wait_ms:sda': 1.8,
    'temperature.celsius:coretemp Package id 0': 45.5,
    'temperature.celsius:nvme0 temp1': 30,
    'temperature.celsius:nvme1 temp1': 31,
    'fan.rpm:coretemp fan1': 1200,
    'battery.percent:BAT0': 80,
  })
  expect(problems).toEqual([])
  expect(minute!.row.slice(0, 2)).toEqual([start, 2])
  const measured = new Set(minute!.columns.map(column => column.split(':')[0]))
  // Others are measured by parts that need the real server, or by clouds and controllers.
  const others = /^(filesystem|container|power|volume|firewall)\./
  expect(Object.keys(metricUnits).filter(name => !measured.has(name) && !others.test(name))).toEqual([])
  expect([...measured].filter(name => !Object.hasOwn(metricUnits, name!))).toEqual([])
})

test('counters that were reset have no value, and the other metrics do', async () => {
  const { found } = await samplesOf([files(9), { ...files(10), 'proc/1/net/dev': files(1)['proc/1/net/dev']! }])
  expect([...found[1]!.keys()].filter(column => column.startsWith('network.'))).toEqual([])
  expect(found[1]!.get('disk.busy_percent:sda')).toBe(50)
})

test('without files, nothing is measured', async () => {
  using machine = new MachineFiles()
  const sampler = new Sampler(new Root(machine.folder), null, true, () => 0)
  await sampler.sample(start)
  expect([...sampler.latest]).toEqual([])
  expect(sampler.problems).toEqual([
    'Pressure is not measured, because the kernel doesn’t provide it (PSI).',
    'Processes can’t be counted, because /proc hides those of other users.',
  ])
})

test('a server with 400 disks reports 20 of them, physical ones first, and why', async () => {
  const names = Array.from({ length: 400 }, (_, at) => `sd${String.fromCharCode(97 + Math.floor(at / 26), 97 + (at % 26))}`)
  const many = (turn: number) => ({
    ...files(turn),
    ...Object.fromEntries(names.map(name => [`sys/block/${name}/size`, '2000'])),
    'sys/block/sdpj/device/model': 'X',
    'proc/diskstats': names.map(name => diskLine(name, turn)).join(''),
  })
  const { found, problems } = await samplesOf([many(1), many(2)])
  const disks = [...found[1]!.keys()].filter(column => column.startsWith('disk.busy_percent:'))
  expect(disks).toHaveLength(20)
  expect(disks[0]).toBe('disk.busy_percent:sdpj')
  expect(problems).toEqual(['Only 20 of 400 disks are measured.'])
})

test('names of devices contain no control characters', async () => {
  const name = 'a:b\u0007c'
  const odd = (turn: number) => ({ 'proc/1/net/dev': `Inter-|\n face |\n${interfaceLine(name, turn)}` })
  const { found } = await samplesOf([odd(1), odd(2)])
  expect(found[1]!.get('network.sent_bytes_per_second:a:b c')).toBe(200)
})

test('the traffic of bridges, bonds, and VLANs is counted once, and physical interfaces come first', async () => {
  const lines = (turn: number) => ['tun0', 'eth0', 'bond0', 'eth0.100', 'docker0'].map(name => interfaceLine(name, turn)).join('')
  const turn = (at: number) => ({
    'proc/1/net/dev': `Inter-|\n face |\n${lines(at)}`,
    'sys/class/net/eth0/device/vendor': '',
    'sys/class/net/tun0/type': '',
    'sys/class/net/bond0/lower_eth0/type': '',
    'sys/class/net/eth0.100/lower_eth0/type': '',
    'sys/class/net/docker0/bridge/stp_state': '',
  })
  const { found } = await samplesOf([turn(1), turn(2)])
  const sent = 'network.sent_bytes_per_second:'
  expect([...found[1]!.keys()].filter(column => column.startsWith(sent))).toEqual([`${sent}eth0`, `${sent}tun0`])
})
