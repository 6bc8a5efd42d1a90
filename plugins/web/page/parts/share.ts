/** Shares a video: its link with and without the time, its page on the platform, its file. */
import { ArrowDownToLine, Link, Share2, Timer } from 'lucide'
import { under } from '../server/base.ts'
import type { Video } from '../server/records.ts'
import { toClock } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import type { MenuItem } from './menu.tsx'
import { originalItem } from './platform-link.ts'
import { say } from './toast.ts'

/** @param atS  the current position */
export function shareItems(video: Video, atS: number): MenuItem[] {
  const { platform_id: id, title, media_url: file } = video
  const address = new URL(under(`/video/${id}/`), location.href)
  const atTime = new URL(`?t=${Math.floor(atS)}`, address)
  return [
    { label: t('share.copy'), icon: Link, onSelect: () => copyLink(address.href) },
    ...(atS >= 1
      ? [{ label: t('share.copyAt', { time: toClock(atS) }), icon: Timer, onSelect: () => copyLink(atTime.href) }]
      : []),
    ...('share' in navigator
      ? [{ label: t('share.apps'), icon: Share2, onSelect: () => send({ title, url: address.href }) }]
      : []),
    ...originalItem(video),
    { label: t('player.file'), icon: ArrowDownToLine, onSelect: () => download(under(file), title) },
  ]
}

export async function copyLink(address: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(address)
    say(t('share.copied'))
  } catch {
    say(address) // browsers refuse over plain http: people can copy the shown address
  }
}

/** Canceling is not a failure. */
const send = (what: ShareData): Promise<void> => navigator.share(what).catch(() => undefined)

/** Saves the file under a readable name; the server's file name is the id. */
function download(address: string, title: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = `${title}${/\.\w+$/.exec(address)?.[0] ?? ''}`
  link.click()
}
