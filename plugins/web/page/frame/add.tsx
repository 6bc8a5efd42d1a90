/** The + button of the top bar: a field for links in every view. */
import { signal } from '@preact/signals'
import { Plus } from 'lucide'
import { AddButtons } from '../parts/add-buttons.tsx'
import { download } from '../parts/adding.ts'
import { askAndSubscribe } from '../parts/beginning.tsx'
import { IconButton } from '../parts/button.tsx'
import { Dialog, useWhileOpen } from '../parts/dialog.tsx'
import { LinkField } from '../parts/link-field.tsx'
import { whenOver } from '../server/api.ts'
import type { Understood } from '../stores/identify-links.ts'
import { mayDownload } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'

const isOpen = signal(false)
whenOver(() => void (isOpen.value = false))

export const AddButton = () =>
  mayDownload.value && <IconButton icon={Plus} label={t('add.title')} onClick={() => void (isOpen.value = true)} />

/** Rendered once in the frame. */
export const AddSheet = () => isOpen.value && <Sheet onClose={() => void (isOpen.value = false)} />

function Sheet({ onClose }: { onClose: () => void }) {
  const close = useWhileOpen(onClose)
  const send = async (understood: Understood[], how: string): Promise<void | false> => {
    const done = how === 'subscribe' ? await askAndSubscribe(understood) : await download(understood, { isNow: true })
    if (done === false) return false
    close()
  }
  return (
    <Dialog title={t('add.title')} onClose={onClose}>
      <LinkField
        label={t('downloads.paste')}
        hint={t('downloads.paste.placeholder')}
        missing={t('downloads.missing')}
        onSend={send}
        buttons={(state) => <AddButtons {...state} />}
      />
    </Dialog>
  )
}
