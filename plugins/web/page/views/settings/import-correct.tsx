/** Import: lets a person name the video of a film, or the channel of films that could not be identified. */
import { Check, Pencil } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { Form, useForm } from '../../parts/form.tsx'
import { say } from '../../parts/toast.ts'
import { post } from '../../server/api.ts'
import type { AdoptionItem } from '../../server/records.ts'
import { t } from '../../texts/lookup.ts'

interface CorrectProps {
  id: number
  item: AdoptionItem
  onDone: () => Promise<void>
}

/** The folders above a film, the nearest first; the whole plan last. */
const foldersAbove = (file: string): string[] => {
  const parts = file.split('/').slice(0, -1)
  return [...parts.map((_, at) => parts.slice(0, parts.length - at).join('/')), '']
}

export function Correct({ id, item, onDone }: CorrectProps) {
  const [isOpen, open] = useState(false)
  if (!item.correctable) return null
  if (!isOpen)
    return (
      <Button
        kind="quiet"
        icon={Pencil}
        aria-label={t('settings.import.correctOf', { name: item.file })}
        onClick={() => open(true)}
      >
        {t('settings.import.correct')}
      </Button>
    )
  const done = async () => {
    open(false)
    await onDone()
  }
  return <CorrectForm id={id} item={item} close={() => open(false)} onDone={done} />
}

function CorrectForm({
  id,
  item: { number, file, platform_id: known, outcome },
  close,
  onDone,
}: CorrectProps & { close: () => void }) {
  const [video, setVideo] = useState('')
  const [channel, setChannel] = useState('')
  const [scope, setScope] = useState('file')
  const form = useForm({ video: { refused: true }, channel: { refused: true } })
  const path = `/api/adoption/${id}/item/`
  const send = async () => {
    if (video.trim() !== '') await post(path, { numbers: [number], video: video.trim() })
    const those = scope === 'file' ? { numbers: [number] } : { folder: scope.slice(1) }
    if (channel.trim() !== '') await post(path, { ...those, channel: channel.trim() })
    say(t('settings.import.correct.done'))
    await onDone()
  }
  const mayHaveChannel = outcome === 'ask' || video.trim() !== ''
  return (
    <Form form={form} class="option-form" onSubmit={send}>
      <Field
        label={t('settings.import.correct.video', { name: file })}
        hint={
          known === ''
            ? t('settings.import.correct.video.none')
            : t('settings.import.correct.video.hint', { id: known })
        }
        value={video}
        onInput={setVideo}
        error={form.errors.video}
      />
      {mayHaveChannel && (
        <>
          <Field
            label={t('settings.import.correct.channel', { name: file })}
            hint={t('settings.import.correct.channel.hint')}
            value={channel}
            onInput={setChannel}
            error={form.errors.channel}
          />
          <Select
            label={t('settings.import.correct.for')}
            value={scope}
            choices={[
              { value: 'file', label: t('settings.import.correct.for.file') },
              ...foldersAbove(file).map((folder) => ({
                value: `/${folder}`,
                label:
                  folder === ''
                    ? t('settings.import.correct.for.all')
                    : t('settings.import.correct.for.folder', { name: folder }),
              })),
            ]}
            onChange={setScope}
          />
        </>
      )}
      {form.refusal}
      <div class="buttons">
        <Button icon={Check} type="submit" disabled={video.trim() === '' && channel.trim() === ''}>
          {t('action.save')}
        </Button>
        <Button kind="quiet" onClick={close}>
          {t('action.cancel')}
        </Button>
      </div>
    </Form>
  )
}
