import { useEffect, useRef } from 'react'
import { redraw } from './redraw'
import type { Tone } from './status'

/** One bar of a strip: a tone and a tooltip. */
export interface Bar {
  tone: Tone
  /** Tooltip. */
  title: string
  /** Height from 0 to 1. Defaults to the height of the tone. */
  fraction?: number
}

interface BarsProps {
  bars: readonly Bar[]
  /** Text for screen readers: “29 of 30 checks succeeded”. */
  label: string
  height?: number
  /** Number of bars that fit. Fewer bars are aligned to the right. */
  slots?: number
}

// Heights differ by tone as well, because color must not be the only difference.
const heights: Record<Tone, number> = { ok: 0.72, warn: 0.86, bad: 1, idle: 0.4, busy: 0.4 }
const colors: Record<Tone, string> = {
  ok: '--ok-mark',
  warn: '--warn-mark',
  bad: '--bad-mark',
  idle: '--idle-mark',
  busy: '--accent',
}

/** A strip of bars drawn on a canvas: the last checks or days. */
export function Bars({ bars, label, height = 24, slots = bars.length }: BarsProps) {
  const canvasRef = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const canvas = canvasRef.current!
    const draw = () => {
      const scale = devicePixelRatio || 1
      const width = canvas.clientWidth
      canvas.width = Math.round(width * scale)
      canvas.height = Math.round(height * scale)
      const context = canvas.getContext('2d')!
      const style = getComputedStyle(document.documentElement)
      const step = canvas.width / Math.max(slots, 1)
      const gap = step > 4 * scale ? Math.min(2 * scale, step / 4) : 0
      for (const [at, bar] of bars.entries()) {
        const barHeight = canvas.height * (bar.fraction ?? heights[bar.tone])
        const left = (slots - bars.length + at) * step
        context.fillStyle = style.getPropertyValue(colors[bar.tone]).trim()
        context.fillRect(left, canvas.height - barHeight, Math.max(step - gap, 1), barHeight)
      }
    }
    return redraw(canvas, draw)
  }, [bars, height, slots])
  return (
    <canvas
      ref={canvasRef}
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
