/** Move in: the rows of a plan. */

import { ListChecks } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { sayFailure } from '../../parts/toast.tsx'
import { get } from '../../server/api.ts'
import type { AdoptionItem } from '../../server/records.ts'
import { t } from '../../texts/texts.ts'

export function Problems({ id }: { id: number }) {
  const [rows, setRows] = useState<AdoptionItem[]>()
  const show = async () => {
    const { data } = await get<{ data: AdoptionItem[] }>(`/api/adoption/${id}/item/`, { outcome: 'problem' })
    setRows(data)
  }
  if (!rows)
    return (
      <Button kind="quiet" icon={ListChecks} onClick={() => void show().catch(sayFailure)}>
        {t('settings.moving.problems')}
      </Button>
    )
  return (
    <ul class="plain">
      {rows.map(({ file, platform_id: video, reason }, at) => (
        <li key={at}>
          <span dir="auto">{file || video}</span>: <span class="meta">{reason}</span>
        </li>
      ))}
    </ul>
  )
}
