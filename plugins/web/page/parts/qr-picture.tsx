/**
 * A QR code whose module is loaded only when a code is shown. If loading fails, the text beside the code is sufficient.
 */
import { useEffect, useState } from 'preact/hooks'
import type QrCode from './qr-code.tsx'

export function QrPicture({ text, label }: { text: string; label: string }) {
  const [Drawn, setDrawn] = useState<typeof QrCode | null>()
  useEffect(() => {
    void import('./qr-code.tsx').then(
      ({ default: loaded }) => setDrawn(() => loaded),
      () => setDrawn(null),
    )
  }, [])
  if (Drawn) return <Drawn text={text} label={label} />
  return Drawn === null ? null : <div class="qr-code" />
}
