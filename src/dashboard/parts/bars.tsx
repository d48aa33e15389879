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
  /** Shows only the last bars, as many as fit, and a mark for those that don't exist yet. */
  fits?: boolean
}

// The distance of bars in pixels, if they don't all have to be shown.
const barStep = 9

// Heights differ by tone as well, because color must not be the only difference.
const heights: Record<Tone, number> = { ok: 0.72, warn: 0.86, bad: 1, idle: 0.4, busy: 0.4 }
const colors: Record<Tone, string> = {
  ok: '--ok-mark',
  warn: '--warn-mark',
  bad: '--bad-mark',
  idle: '--idle-mark',
  busy: '--accent',
}

/** The most bars that `fits` shows on this screen. */
export const maxBars = Math.min(100, Math.max(30, Math.ceil(screen.width / 20)))

/** How many bars fit on a strip. */
const slotsOf = (count: number, width: number, fits: boolean): number =>
  Math.max(1, fits ? Math.min(maxBars, Math.floor(width / barStep)) : count)

/** A strip of bars drawn on a canvas: the last checks or days. The last bar is on the right. */
export function Bars({ bars, label, height = 24, fits = false }: BarsProps) {
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
      const slots = slotsOf(bars.length, width, fits)
      const step = canvas.width / slots
      const gap = step > 4 * scale ? Math.min(3 * scale, step / 3) : 0
      for (let slot = 0; slot < slots; slot++) {
        const bar = bars[slot - slots + bars.length]
        const barHeight = bar ? canvas.height * (bar.fraction ?? heights[bar.tone]) : 3 * scale
        context.fillStyle = style.getPropertyValue(bar ? colors[bar.tone] : '--line').trim()
        context.beginPath()
        context.roundRect(slot * step, canvas.height - barHeight, Math.max(step - gap, 1), barHeight, gap > 0 ? scale : 0)
        context.fill()
      }
    }
    return redraw(canvas, draw)
  }, [bars, height, fits])
  return (
    <canvas
      ref={canvasRef}
      role="img"
      aria-label={label}
      className="block w-full"
      style={{ height }}
      onMouseMove={event => {
        const { left, width } = event.currentTarget.getBoundingClientRect()
        const slots = slotsOf(bars.length, width, fits)
        const slot = Math.floor(((event.clientX - left) / width) * slots)
        event.currentTarget.title = bars[slot - slots + bars.length]?.title ?? ''
      }}
    />
  )
}
