import { useEffect, useRef } from 'react'
import type { Mood } from './status'

/** One small bar: how it went, and what to say of it. */
export interface Bar {
  mood: Mood
  /** Shown when it is pointed at. */
  title: string
  /** 0 to 1 of the height; a whole bar when absent. */
  part?: number
}

interface BarsProps {
  bars: readonly Bar[]
  /** In words, for those who cannot see them: «29 of 30 checks went well». */
  label: string
  height?: number
  /** How many there is room for; fewer bars stand to the right. */
  slots?: number
}

// Colour is never alone: what went wrong reaches full height, what went well does not, what is unknown is low.
const heights: Record<Mood, number> = { ok: 0.72, warn: 0.86, bad: 1, idle: 0.4, busy: 0.4 }
const colours: Record<Mood, string> = {
  ok: '--ok-mark',
  warn: '--warn-mark',
  bad: '--bad-mark',
  idle: '--idle-mark',
  busy: '--accent',
}

/** A strip of bars on one canvas: the last checks, the last days. */
export function Bars({ bars, label, height = 24, slots = bars.length }: BarsProps) {
  const place = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const canvas = place.current!
    const draw = () => {
      const scale = devicePixelRatio || 1
      const width = canvas.clientWidth
      canvas.width = Math.round(width * scale)
      canvas.height = Math.round(height * scale)
      const pen = canvas.getContext('2d')!
      const style = getComputedStyle(document.documentElement)
      const step = canvas.width / Math.max(slots, 1)
      const gap = step > 4 * scale ? Math.min(2 * scale, step / 4) : 0
      for (const [at, bar] of bars.entries()) {
        const tall = canvas.height * (bar.part ?? heights[bar.mood])
        const left = (slots - bars.length + at) * step
        pen.fillStyle = style.getPropertyValue(colours[bar.mood]).trim()
        pen.fillRect(left, canvas.height - tall, Math.max(step - gap, 1), tall)
      }
    }
    draw()
    const resized = new ResizeObserver(draw)
    resized.observe(canvas)
    const themed = new MutationObserver(draw)
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      resized.disconnect()
      themed.disconnect()
    }
  }, [bars, height, slots])
  return (
    <canvas
      ref={place}
      role="img"
      aria-label={label}
      className="block w-full"
      style={{ height }}
      onMouseMove={event => {
        const { left, width } = event.currentTarget.getBoundingClientRect()
        const slot = Math.floor(((event.clientX - left) / width) * slots) - (slots - bars.length)
        event.currentTarget.title = bars[slot]?.title ?? ''
      }}
    />
  )
}
