package org.gatepost.device;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Plain text of filtered HTML. */
final class Plain {
  private static final Pattern ENTITY =
      Pattern.compile("&(?:#(\\d{1,7})|#[xX]([\\da-fA-F]{1,6})|([a-zA-Z]{1,6}));");
  private static final List<String> NAMES =
      Arrays.asList("amp", "lt", "gt", "quot", "apos", "nbsp");
  private static final String CHARACTERS = "&<>\"' ";

  private Plain() {}

  /** Blocks and {@code <br>} end lines, tags go, entities are read. */
  static String textOf(String html) {
    String lines =
        html.replaceAll("\\s+", " ")
            .replaceAll("(?i)<br ?/?>|</(?:p|div|li|h[1-6]|tr|blockquote|pre)>", "\n")
            .replaceAll("<[^<>]*>", "");
    Matcher entities = ENTITY.matcher(lines);
    StringBuffer out = new StringBuffer();
    while (entities.find()) {
      entities.appendReplacement(out, Matcher.quoteReplacement(characterOf(entities)));
    }
    entities.appendTail(out);
    return out.toString().replaceAll(" *\n *", "\n").replaceAll("\n{3,}", "\n\n").trim();
  }

  private static String characterOf(Matcher entity) {
    if (entity.group(3) != null) {
      int which = NAMES.indexOf(entity.group(3).toLowerCase(Locale.ROOT));
      return which < 0 ? entity.group() : CHARACTERS.substring(which, which + 1);
    }
    boolean isDecimal = entity.group(1) != null;
    int code = Integer.parseInt(entity.group(isDecimal ? 1 : 2), isDecimal ? 10 : 16);
    return Character.isValidCodePoint(code) ? new String(Character.toChars(code)) : entity.group();
  }
}
