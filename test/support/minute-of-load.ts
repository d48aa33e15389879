import type { DebianGuest } from './debian-guest'

/**
 * Reads what the tools of the system report at the start and the end of a minute, twice around each of the two samples of the agent. In
 * between, the server is busy.
 */
const script = `
reading() { echo '== counters'; vmstat -s; vmstat -d; ip -s -j link show dev eth0; echo; }
memory() { echo '== memory'; free -b | grep ^Mem; }
minute=$((($(date +%s) + 5) / 60 * 60 + 60))
at() {
  while [ "$(date +%s)" -lt $((minute + $1)) ]; do sleep 0.1; done
  [ "$(date +%s)" -le $((minute + $1 + 1)) ] || echo '== late'
}
at -2; reading; at 2; reading
at 5
timeout 20 sh -c 'while :; do :; done' &
dd if=/dev/zero of=/root/load bs=1M count=64 conv=fdatasync 2>/dev/null &
curl -fsS --limit-rate 3M --max-time 30 -o /dev/null "$HUB/download/agent/$(uname -m | sed 's/x86_64/linux-x64/; s/aarch64/linux-arm64/')" 2>/dev/null &
for second in 10 20 30 40 50; do at $second; memory; done
wait
at 58; reading; echo "== minute"; echo $minute; memory; at 62; reading
rm /root/load
`

interface Counters {
  /** Ticks of all CPUs by kind. */
  cpu: Record<string, number>
  disks: Map<string, { read: number; written: number }>
  link: { rx: { bytes: number; packets: number }; tx: { bytes: number; packets: number } }
}

/** What the tools reported about a minute. */
export interface MinuteOfLoad {
  /** Start of the minute (ms UTC). */
  start: number
  /** Before and after its start, and before and after its end. */
  counters: [before: Counters, after: Counters, beforeEnd: Counters, afterEnd: Counters]
  memory: { total: number; used: number; available: number }[]
}

/** Lets a guest be busy for most of a minute, and waits until it is over. @param hub URL from which it downloads */
export async function minuteOfLoad(guest: DebianGuest, hub: string): Promise<MinuteOfLoad> {
  const sections = (await guest.run(`HUB='${hub}'\n${script}`)).split('== ').slice(1)
  const of = (name: string) => sections.filter(one => one.startsWith(name)).map(one => one.slice(name.length).trim())
  // The machine was too busy to read at the right time.
  if (of('late').length > 0) return await minuteOfLoad(guest, hub)
  return {
    start: Number(of('minute')[0]) * 1000,
    counters: of('counters').map(countersIn) as MinuteOfLoad['counters'],
    memory: of('memory').map(text => {
      const [, total, used, , , , available] = text.split(/\s+/).map(Number)
      return { total: total!, used: used!, available: available! }
    }),
  }
}

function countersIn(text: string): Counters {
  const lines = text.split('\n')
  const [link] = JSON.parse(lines.find(line => line.startsWith('['))!)
  return {
    cpu: Object.fromEntries([...text.matchAll(/^\s*(\d+) (.+) cpu ticks$/gm)].map(([, count, kind]) => [kind!, Number(count)])),
    disks: new Map(
      lines
        .map(line => line.trim().split(/\s+/))
        .filter(words => words.length === 11 && /^\d+$/.test(words[1]!))
        .map(([name, , , read, , , , written]) => [name!, { read: Number(read) * 512, written: Number(written) * 512 }]),
    ),
    link: link.stats64,
  }
}
