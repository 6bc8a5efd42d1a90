/**
 * Handles a link that was pasted outside a text field, or shared by another app: a sheet shows its target, and
 * downloads it or subscribes to it.
 */
import { signal } from '@preact/signals'
import { Download, Rss } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { navigate } from '../browser/router.ts'
import { download, downloadLabel, isList, mainAction } from '../parts/adding.ts'
import { askAndSubscribe } from '../parts/beginning.tsx'
import { Button } from '../parts/button.tsx'
import { Dialog, useWhileOpen } from '../parts/dialog.tsx'
import { useForm } from '../parts/form.tsx'
import { Pasted } from '../parts/pasted.tsx'
import { say } from '../parts/toast.ts'
import { isSignedIn, toFailure, whenOver } from '../server/api.ts'
import { lookUp, lookUpSoon, type Reading, type Understood, understand, wordsOf } from '../stores/identify-links.ts'
import { isAdmin, mayAsk, mayDownload, sessionKnown } from '../stores/session.ts'
import { countTurns } from '../stores/turns.ts'
import { t } from '../texts/lookup.ts'

const pasted = signal<Reading | undefined>(undefined)
whenOver(() => void (pasted.value = undefined))
/** Begins to handle a paste: only the reply to the newest one is used. */
const begin = countTurns()

const LINK = /^(https?:\/\/|www\.|@)/i

const isField = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, textarea, select, [contenteditable], dialog') !== null

async function onPaste(event: ClipboardEvent): Promise<void> {
  const text = event.clipboardData?.getData('text/plain') ?? ''
  // Text fields handle their own pastes, and an open dialog comes first.
  if (
    event.defaultPrevented ||
    isField(event.target) ||
    document.querySelector('dialog[open]') ||
    wordsOf(text).length === 0
  )
    return
  await offer(text)
}

/**
 * Opens the sheet for links that the account may open or download. Otherwise opens the search if the account may ask
 * for videos, or shows an error; text without links is ignored.
 */
export async function offer(text: string): Promise<void> {
  const isNewest = begin()
  try {
    // A paste before the session is known waits for it.
    await sessionKnown()
    if (!isSignedIn.peek()) return
    const reading = await understand(text)
    if (!isNewest()) return
    const isKnown = reading.understood.some(({ target }) => target.known)
    if (reading.understood.length > 0 && (mayDownload.peek() || isKnown)) pasted.value = reading
    else if (reading.understood.length > 0 && mayAsk())
      navigate(`/search/?q=${encodeURIComponent(reading.understood[0]!.word)}`)
    else if (reading.understood.length > 0) say(t('paste.denied'), { isError: true })
    else if (reading.others.some((word) => LINK.test(word))) say(t('paste.foreign'), { isError: true })
  } catch (error) {
    say(toFailure(error).message, { isError: true })
  }
}

/** Active from the start, in every view. */
export const listenToPastes = (): void => document.addEventListener('paste', (event) => void onPaste(event))

/** Rendered once in the frame. */
export const PasteSheet = () => pasted.value && <Sheet reading={pasted.value} />

function Sheet({ reading: read }: { reading: Reading }) {
  const form = useForm()
  const [reading, setReading] = useState(read)
  const { understood } = reading
  useEffect(() => {
    const ending = new AbortController()
    lookUp(read, ending.signal).then(setReading, () => undefined) // rejects only if the sheet was closed
    return () => ending.abort()
  }, [read])
  const first = (understood[0] ?? read.understood[0]!).target
  const isOne = read.understood.length === 1
  const isAllVideos = !understood.some(isList)
  const main = mainAction(understood)
  const close = useWhileOpen(() => void (pasted.value = undefined))
  const act = (ask: (understood: readonly Understood[]) => Promise<unknown>) => () =>
    form.run(async () => {
      const now = await lookUpSoon(reading)
      setReading(now)
      if (now.understood.length > 0 && (await ask(now.understood)) !== false) close()
    })
  const open = () => {
    close()
    navigate(`/${first.type}/${encodeURIComponent(first.id)}/`)
  }
  return (
    <Dialog title={isOne ? t('paste.title') : t('paste.title.many')} onClose={close}>
      <Pasted reading={reading} isLinked={false} />
      {isOne && mayDownload.value && understood.length > 0 && <p class="hint">{t(`paste.${first.type}`)}</p>}
      {form.refusal}
      <footer class="paste-actions">
        {mayDownload.value && understood.length > 0 && (
          <Button
            kind={main === 'download' ? 'main' : 'plain'}
            icon={Download}
            isBusy={form.isBusy}
            onClick={act((all) => download(all, { isNow: true }))}
          >
            {downloadLabel(understood)}
          </Button>
        )}
        {isAdmin.value && understood.length > 0 && (
          <Button
            kind={main === 'subscribe' ? 'main' : 'plain'}
            icon={Rss}
            isBusy={form.isBusy}
            onClick={act(askAndSubscribe)}
          >
            {isAllVideos && isOne ? t('paste.subscribeChannel') : t('paste.subscribe')}
          </Button>
        )}
        {isOne && first.known && <Button onClick={open}>{t('paste.open')}</Button>}
        <Button kind="quiet" onClick={close}>
          {t('action.cancel')}
        </Button>
      </footer>
    </Dialog>
  )
}
