/** The changes on the platform since a video, channel or playlist was archived, newest first. */
import { useState } from 'preact/hooks'
import { isThere } from '../stores/left-out.ts'
import { t } from '../texts/lookup.ts'
import type Changes from './changes.tsx'
import type { TimelineProps } from './changes.tsx'
import { sayFailure } from './toast.ts'

export function Timeline(props: TimelineProps) {
  const [isOpen, setOpen] = useState(false)
  const [Shown, setShown] = useState<typeof Changes>()
  if (!isThere('history')) return null
  const toggle = (isNow: boolean) => {
    setOpen(isNow)
    if (isNow && !Shown) import('./changes.tsx').then(({ default: loaded }) => setShown(() => loaded), sayFailure)
  }
  return (
    <details class="files timeline" onToggle={({ currentTarget }) => toggle(currentTarget.open)}>
      <summary>{t('history.title')}</summary>
      {isOpen && Shown && <Shown {...props} />}
    </details>
  )
}
