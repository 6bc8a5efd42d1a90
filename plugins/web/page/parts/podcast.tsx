/** Offers the feed of a channel, a playlist or a search as a podcast: its address, to copy or to scan as a QR code. */
import { useSignal } from '@preact/signals'
import { Copy, Podcast as PodcastIcon } from 'lucide'
import { get, post, remove } from '../server/api.ts'
import type { Podcast } from '../server/records.ts'
import { isThere } from '../stores/left-out.ts'
import { useLoad } from '../stores/load.ts'
import { t } from '../texts/lookup.ts'
import { Button } from './button.tsx'
import { copyText } from './copy-text.ts'
import { confirm, Dialog, useWhileOpen } from './dialog.tsx'
import { Icon } from './icon.tsx'
import { Loaded } from './loaded.tsx'
import type { MenuItem } from './menu.tsx'
import { QrPicture } from './qr-picture.tsx'
import { say } from './toast.ts'

export const podcastItem = (open: () => void): MenuItem[] =>
  isThere('podcast') ? [{ label: t('podcast.listen'), icon: PodcastIcon, onSelect: open }] : []

/** Shown with a search of videos by words alone, because a feed supports no other filters. */
export function ListenToSearch({ words }: { words: string }) {
  const isOpen = useSignal(false)
  if (!isThere('podcast')) return null
  return (
    <>
      <button type="button" class="chip" onClick={() => void (isOpen.value = true)}>
        <Icon node={PodcastIcon} size={16} />
        {t('podcast.listen')}
      </button>
      {isOpen.value && <PodcastDialog kind="search" target={words} onClose={() => void (isOpen.value = false)} />}
    </>
  )
}

export function PodcastDialog({
  kind,
  target,
  onClose,
}: {
  kind: Podcast['kind']
  target: string
  onClose: () => void
}) {
  const feed = useLoad<Podcast>(`podcast/${kind}/${target}`, () => post('/api/podcast/', { kind, target }))
  const close = useWhileOpen(onClose)
  return (
    <Dialog title={t('podcast.listen')} onClose={onClose}>
      <Loaded from={feed}>
        {(made) => (
          <>
            <div class="prose">
              <p>{t('podcast.hint')}</p>
            </div>
            <QrPicture text={made.url} label={t('podcast.picture')} />
            <output class="code-block" dir="ltr">
              {made.url}
            </output>
            <footer>
              <Button
                onClick={async () => {
                  if (await endPodcast(made)) close()
                }}
              >
                {t('podcast.end')}
              </Button>
              <Button kind="main" icon={Copy} onClick={() => copyText(made.url)}>
                {t('podcast.copy')}
              </Button>
            </footer>
          </>
        )}
      </Loaded>
    </Dialog>
  )
}

/** @returns whether the feed was ended */
export async function endPodcast({ id, title, target }: Podcast): Promise<boolean> {
  const name = title ?? target
  const text = <p>{t('podcast.end.text')}</p>
  if (!(await confirm({ title: t('podcast.end.title', { name }), text, action: t('podcast.end'), isDangerous: true })))
    return false
  await remove(`/api/podcast/${id}/`)
  say(t('podcast.ended', { name }))
  return true
}

export const readPodcasts = (signal: AbortSignal): Promise<Podcast[]> => get('/api/podcast/', {}, signal)
