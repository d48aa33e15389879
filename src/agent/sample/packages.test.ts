import { expect, test } from 'bun:test'
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { MachineFiles } from '../../../test/support/machine-files'
import { InstalledPackages } from './packages'
import { Root } from './root'

const [own, other] = process.arch === 'arm64' ? ['arm64', 'amd64'] : ['amd64', 'arm64']
const paragraph = (name: string, version: string, { arch = own, state = 'ok installed', more = '' } = {}) =>
  `Package: ${name}\nStatus: install ${state}\nPriority: optional\nArchitecture: ${arch}\nVersion: ${version}\n${more}Description: A package\n with Version: 1 in a line\n`
const status = 'var/lib/dpkg/status'

async function readIn(machine: MachineFiles): Promise<{ reader: InstalledPackages; lines: string[]; problems: string[] }> {
  const problems: string[] = []
  const reader = new InstalledPackages(new Root(machine.folder))
  const found = await reader.read(one => problems.push(one))
  return { reader, lines: (found ?? []).map(({ name, version }) => `${name} ${version}`), problems }
}

test('packages of dpkg: those that are installed, sorted by name, with other architectures', async () => {
  using machine = new MachineFiles()
  machine.write({
    [status]: [
      paragraph('zlib1g', '1:1.2.13'),
      paragraph('bash', '5.2.15-2+b2'),
      paragraph('libc6', '2.36-9', { arch: other }),
      paragraph('adduser', '3.134', { arch: 'all' }),
      paragraph('old', '1', { state: 'ok config-files' }),
      paragraph('broken', '2', { state: 'reinstreq half-configured' }),
      'Package: gone\nStatus: deinstall ok not-installed\n',
      // Longer than what is read at once.
      paragraph('long', '3', { more: `Conffiles:\n${' /etc/long/file 0123456789abcdef\n'.repeat(5000)}` }),
      paragraph('last', '4'),
    ].join('\n'),
  })
  const { lines, problems } = await readIn(machine)
  expect(lines).toEqual([
    ...['adduser 3.134', 'bash 5.2.15-2+b2', 'broken 2', 'last 4', `libc6:${other} 2.36-9`, 'long 3', 'zlib1g 1:1.2.13'],
  ])
  expect(problems).toEqual([])
})

test('each package is found, wherever the pieces of the file end', async () => {
  using machine = new MachineFiles()
  // Paragraphs of different lengths, so that the pieces end in names, versions, and between paragraphs.
  const names = Array.from({ length: 4000 }, (_, at) => `package-${String(at).padStart(4, '0')}`)
  const text = names.map((name, at) => paragraph(name, `${at}`, { more: `Section: ${'x'.repeat(at % 67)}\n` })).join('\n')
  machine.write({ [status]: text })
  expect((await readIn(machine)).lines).toEqual(names.map((name, at) => `${name} ${at}`))
})

test('packages of apk', async () => {
  using machine = new MachineFiles()
  machine.write({
    'lib/apk/db/installed':
      'C:Q1abc=\nP:musl\nV:1.2.4-r2\nA:x86_64\nS:400\nF:lib\nR:ld-musl-x86_64.so.1\n\nC:Q1def=\nP:busybox\nV:1.36.1-r5\nA:noarch\n\n',
  })
  const { lines } = await readIn(machine)
  expect(lines).toEqual(['busybox 1.36.1-r5', process.arch === 'x64' ? 'musl 1.2.4-r2' : 'musl:x86_64 1.2.4-r2'])
})

test('a package manager without packages, such as dpkg on Fedora, doesn’t hide those of another one', async () => {
  using machine = new MachineFiles()
  machine.write({ [status]: '', 'lib/apk/db/installed': 'P:musl\nV:1.2.4-r2\nA:noarch\n' })
  const { reader, lines } = await readIn(machine)
  expect(lines).toEqual(['musl 1.2.4-r2'])
  utimesSync(join(machine.folder, 'lib/apk/db/installed'), 1, 1)
  expect(await reader.read(() => undefined)).toHaveLength(1)
  // Debian has rpm as a package, too.
  machine.write({ [status]: paragraph('bash', '1') })
  expect(await reader.read(() => undefined)).toMatchObject([{ name: 'bash' }])
})

test('they are read again only after a change, and at most 5,000 are reported', async () => {
  using machine = new MachineFiles()
  const write = (text: string, second: number) => {
    machine.write({ [status]: text })
    utimesSync(join(machine.folder, status), second, second)
  }
  write(paragraph('bash', '1'), 1)
  const { reader, lines } = await readIn(machine)
  expect(lines).toEqual(['bash 1'])
  const problems: string[] = []
  const again = () => reader.read(one => problems.push(one))
  expect(await again()).toBeNull()
  write(Array.from({ length: 5001 }, (_, at) => paragraph(`p${at}`, '1')).join('\n'), 2)
  expect(await again()).toHaveLength(5000)
  expect(await again()).toBeNull()
  expect(problems).toEqual(Array.from({ length: 2 }, () => 'Only 5000 of 5001 installed packages are reported.'))
  // Not as if all packages had been removed.
  machine.remove(status)
  machine.write({ [`${status}/file`]: '' })
  expect(await again()).toBeNull()
  expect(problems[2]).toBe('Installed packages are unknown, because /var/lib/dpkg/status can’t be read.')
})

test('without a known package manager, there are none', async () => {
  using machine = new MachineFiles()
  expect((await readIn(machine)).lines).toEqual([])
})
