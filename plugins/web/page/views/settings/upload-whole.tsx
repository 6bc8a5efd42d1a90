/** Uploads a whole backup: the server checks its beginning first, then the whole file is sent, read and previewed. */
import { useRef, useState } from 'preact/hooks'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Form, FormButtons, useForm } from '../../parts/form.tsx'
import { ask, isAborted, post } from '../../server/api.ts'
import type { WholeBackup, WholePreview } from '../../server/records.ts'
import { toBytes, toPercent } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'

export interface Restoring {
  backup: WholeBackup
  passphrase?: string
  preview?: WholePreview
}

const START_BYTES = 1 << 20
/** The server's pattern for names, and " (1)" and similar suffixes, which browsers add. */
const NAME = /^([a-z][a-z0-9]*_whole-\d{8}-\d{6})(?:\s?\(\d+\))?(\.tar)(?:\s?\(\d+\))?(\.age)?$/

export function UploadWhole({
  file,
  onDone,
  onClose,
}: {
  file: File
  onDone: (uploaded: Restoring) => void
  onClose: () => void
}) {
  const name = NAME.exec(file.name)?.slice(1).join('')
  const isEncrypted = file.name.endsWith('.age')
  const form = useForm<'passphrase'>({
    passphrase: { showsRest: true, wrong: !name && t('settings.whole.name', { name: file.name }) },
  })
  const [passphrase, setPassphrase] = useState('')
  const [sent, setSent] = useState<number>()
  const stop = useRef(new AbortController())
  const close = () => {
    stop.current.abort()
    onClose()
  }

  const put = <Reply,>(content: Blob, onProgress: (share: number) => void, query = {}) =>
    ask<Reply>('PUT', `/api/whole/${name}/`, {
      ...{ query, signal: stop.current.signal },
      upload: { content, type: 'application/octet-stream', onProgress },
      headers: isEncrypted ? { 'x-passphrase': encodeURIComponent(passphrase) } : {},
    })
  const upload = async () => {
    try {
      await put(file.slice(0, START_BYTES), () => undefined, { start: file.size })
      setSent(0)
      const backup = await put<WholeBackup>(file, setSent)
      const given = isEncrypted ? { passphrase } : {}
      const preview = await post<WholePreview>(`/api/whole/${backup.filename}/preview/`, given)
      onDone({ backup, preview, ...given })
    } catch (error) {
      setSent(undefined)
      if (!isAborted(error)) throw error
    }
  }
  return (
    <Dialog title={t('settings.whole.upload')} onClose={close}>
      <Form form={form} onSubmit={upload}>
        <div class="prose">
          <p>{t('settings.whole.upload.goes', { name: file.name, bytes: toBytes(file.size) })}</p>
        </div>
        <Passphrase isAsked={isEncrypted} value={passphrase} error={form.errors.passphrase} onInput={setPassphrase} />
        {sent !== undefined && <Progress sent={sent} />}
        <FormButtons action={t('settings.whole.upload.action')} onCancel={close} />
      </Form>
    </Dialog>
  )
}

interface PassphraseProps {
  isAsked: boolean
  value: string
  /** Also shown if no passphrase is needed. */
  error: string | undefined
  onInput: (passphrase: string) => void
}

export function Passphrase({ isAsked, ...field }: PassphraseProps) {
  if (isAsked) return <Field {...field} label={t('settings.whole.passphrase')} type="password" autocomplete="off" />
  return field.error ? <p class="notice">{field.error}</p> : null
}

function Progress({ sent }: { sent: number }) {
  const words =
    sent < 1 ? t('settings.whole.upload.sent', { percent: toPercent(sent) }) : t('settings.whole.upload.reading')
  return (
    <>
      <progress {...(sent < 1 && { value: sent, max: 1 })} aria-label={words} />
      <p class="meta" role="status">
        {words}
      </p>
    </>
  )
}
