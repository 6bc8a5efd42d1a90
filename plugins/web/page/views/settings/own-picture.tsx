/** The account's picture: chosen from a local file, shown immediately, and removed. */
import { Trash } from 'lucide'
import { Avatar } from '../../parts/avatar.tsx'
import { Button } from '../../parts/button.tsx'
import { FileButton } from '../../parts/file-button.tsx'
import { useForm } from '../../parts/form.tsx'
import { say } from '../../parts/toast.ts'
import { ask, Failure, remove } from '../../server/api.ts'
import type { OwnPictureChosen } from '../../server/records.ts'
import { account, sessionKnown } from '../../stores/session.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

const MOST_MEGABYTES = 10
/** Formats, listed one by one, so that a phone converts other formats to one of these. */
const KINDS = 'image/jpeg,image/png,image/webp,image/gif'
const SIZE = 96

const send = (content: File) => (path: string) =>
  ask<OwnPictureChosen>('PUT', path, { upload: { content, type: 'application/octet-stream' } })
const drop = (path: string) => remove<OwnPictureChosen>(path)

export function OwnPicture() {
  const form = useForm()
  const change = async (how: (path: string) => Promise<OwnPictureChosen>, done: string) => {
    await sessionKnown()
    const { picture } = await how(`/api/user/${account.value!.id}/picture/`)
    account.value = { ...account.value!, picture }
    say(done)
  }
  const choose = async (file: File) => {
    if (file.size > MOST_MEGABYTES << 20)
      throw new Failure(400, { message: t('settings.picture.large', { count: MOST_MEGABYTES }) })
    await change(send(file), t('settings.saved'))
  }
  const own = account.value
  return (
    <Group title={t('settings.picture')} hint={t('settings.picture.hint')}>
      <div class="option-form">
        {form.refusal}
        <div class="own-picture">
          {own && <Avatar of={own} size={SIZE} />}
          <div class="buttons">
            <FileButton
              label={t('settings.picture.choose')}
              busyLabel={t('settings.picture.sending')}
              isBusy={form.isBusy}
              accept={KINDS}
              onFile={(file) => form.run(() => choose(file))}
            />
            {own?.picture && (
              <Button
                kind="quiet"
                icon={Trash}
                isBusy={form.isBusy}
                onClick={() => form.run(() => change(drop, t('settings.picture.removed')))}
              >
                {t('settings.picture.remove')}
              </Button>
            )}
          </div>
        </div>
      </div>
    </Group>
  )
}
