/** Reads a QR code from a screenshot, as a camera would. */
import jsQR from 'jsqr'
import type { Page } from '../../support/browser.ts'

/** @returns undefined: there is no code, or it is light on dark, which many cameras cannot read */
export async function readQrCode(page: Page, screenshot: Buffer): Promise<string | undefined> {
  const { pixels, width, height } = await pixelsOf(page, screenshot)
  return jsQR(pixels, width, height, { inversionAttempts: 'dontInvert' })?.data
}

/** The pixels of a screenshot, decoded by the browser itself. */
async function pixelsOf(page: Page, png: Buffer) {
  const decoded = await page.evaluate(
    async (address) => {
      const picture = new Image()
      picture.src = address
      await picture.decode()
      const { width, height } = picture
      const context = new OffscreenCanvas(width, height).getContext('2d')!
      context.drawImage(picture, 0, 0)
      return { width, height, pixels: [...context.getImageData(0, 0, width, height).data] }
    },
    `data:image/png;base64,${png.toString('base64')}`,
  )
  return { ...decoded, pixels: Uint8ClampedArray.from(decoded.pixels) }
}
