/** Renders untrusted text: only http(s) URLs become links, timestamps seek in the video, line breaks are kept. */
import type { ComponentChildren } from 'preact'

interface TextProps {
  text: string
  /** `1:23` becomes a button, unless this time is beyond the end of the video. */
  times?: { duration: number; onJump: (seconds: number) => void }
}

const PARTS = /(https?:\/\/[^\s<>"'“”«»]+)|(?<![\d:.])((?:\d{1,2}:)?\d{1,2}:\d{2})(?![\d:])/g
/** Punctuation at the end, which belongs to the sentence, not to the URL. */
const TRAILING = /(?<![.,;:!?)\]}>…])[.,;:!?)\]}>…]+$/

export function HostileText({ text, times }: TextProps) {
  const parts: ComponentChildren[] = []
  let from = 0
  for (const found of text.matchAll(PARTS)) {
    const [whole, address, time] = found
    const made = address ? toLink(address) : toJump(time!, times)
    if (!made) continue
    parts.push(text.slice(from, found.index), made.shown)
    from = found.index + whole.length - made.rest
  }
  parts.push(text.slice(from))
  return <span class="hostile">{parts}</span>
}

function toLink(address: string): { shown: ComponentChildren; rest: number } | undefined {
  const own = address.replace(TRAILING, '')
  if (!URL.canParse(own) || !/^https?:$/.test(new URL(own).protocol)) return undefined
  const shown = (
    <a href={own} rel="noopener noreferrer nofollow" target="_blank">
      {own}
    </a>
  )
  return { shown, rest: address.length - own.length }
}

function toJump(time: string, times: TextProps['times']): { shown: ComponentChildren; rest: number } | undefined {
  const seconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
  if (!times || seconds > times.duration) return undefined
  const shown = (
    <button type="button" class="link" onClick={() => times.onJump(seconds)}>
      {time}
    </button>
  )
  return { shown, rest: 0 }
}
