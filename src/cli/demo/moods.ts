/** How a server does: it answers, takes its time, or fails. */
export type Mood = 'well' | 'slow' | 'failing'

/** A stretch in which a server is not well, in seconds of its round. */
type Stretch = [from: number, to: number, mood: Mood]

/** What the servers of the demo go through again and again, so that something happens while one looks. Those that are not named do well. */
const rounds: Record<string, { seconds: number; stretches: Stretch[] }> = {
  payments: { seconds: 60, stretches: [[0, 60, 'failing']] },
  warehouse: { seconds: 60, stretches: [[0, 60, 'failing']] },
  search: { seconds: 300, stretches: [[0, 225, 'slow']] },
  crm: { seconds: 50, stretches: [[0, 25, 'failing']] },
  images: { seconds: 240, stretches: [[60, 130, 'failing']] },
  edge: { seconds: 420, stretches: [[180, 260, 'failing']] },
  billing: { seconds: 180, stretches: [[0, 100, 'failing']] },
}

/** How a server does so long after the demo began to serve (ms). */
export function moodOf(name: string, sinceMs: number): Mood {
  const round = rounds[name]
  if (!round) return 'well'
  const second = (sinceMs / 1000) % round.seconds
  return round.stretches.find(([from, to]) => second >= from && second < to)?.[2] ?? 'well'
}
