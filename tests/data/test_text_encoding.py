import codecs

import pytest

from recsys.data.text_encoding import UnknownEncodingError, UnreadableTextError, decode_text

WESTERN = [
    *("Amélie", "Les Misérables – L’Été", "Straße, die “größte”", "Señor ¿Qué?", "Håll Ålö", "Blåbærsyltetøy"),
    *("«Où» est-ce?", "3½ – 4½", "m² · ©", "a\xa0\xa0\xa0\xa0b"),
]
OTHERS = [
    *[("shift_jis", text) for text in ("千と千尋の神隠し", "マトリックス", "となりのトトロ", "映画,年")],
    *[("gb18030", text) for text in ("黑客帝国", "英雄")],
    *[("big5", "駭客任務"), ("euc_kr", "기생충"), ("euc_jp", "マトリックス"), ("cp1253", "Ο Θίασος")],
    *[(encoding, "Матрица") for encoding in ("cp1251", "koi8-r", "cp866")],
    *[("cp1255", "שלום"), ("cp1256", "فيلم"), ("cp1250", "Miłość"), ("cp850", "Amélie")],
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_what_says_its_encoding_is_read_and_not_guessed(encoding):
    text = "Title\nAmélie\n千と千尋の神隠し\n"
    assert decode_text(text.encode(encoding)) == (text, False)


def test_either_order_of_bytes_is_known():
    assert decode_text(codecs.BOM_UTF16_BE + "Amélie".encode("utf-16-be")) == ("Amélie", False)


@pytest.mark.parametrize("text", WESTERN)
def test_western_text_of_older_programs_is_read(text):
    assert decode_text(f"Title\n{text}\n".encode("cp1252")) == (f"Title\n{text}\n", True)


@pytest.mark.parametrize(("encoding", "text"), OTHERS)
def test_text_of_other_scripts_does_not_become_accented_letters(encoding, text):
    with pytest.raises(UnknownEncodingError, match=r"^has an unknown encoding; save it as UTF-8$"):
        decode_text(f"Title,Year\nHeat,1995\n{text},1999\n".encode(encoding))


def test_a_few_odd_words_among_many_do_not_matter():
    text = "\n".join([*(f"Amélie {n}" for n in range(20)), "†"])
    assert decode_text(text.encode("cp1252")) == (text, True)


def test_utf_8_that_breaks_off_is_not_read_as_something_else():
    with pytest.raises(UnreadableTextError):
        decode_text("Les Misérables\nAmé".encode()[:-1])


@pytest.mark.parametrize("data", [b"a\0b", "Amélie".encode("utf-16-le"), b"\xff\xfea\0\0\0", b"\x89PNG\r\n\x1a\n\0\0"])
def test_what_holds_zeros_is_no_text(data):
    with pytest.raises(UnreadableTextError, match=r"^is not a text file$"):
        decode_text(data)


@pytest.mark.parametrize("n_lines", [100, 80_000])  # fewer and more characters than are checked
def test_a_few_odd_words_do_not_matter_in_a_file_of_any_length(n_lines):
    text = "Amélie, Ça ira, Été\n" * 9 + "Odd ¦ sign\n"
    data = (text * (n_lines // 10)).encode("cp1252")
    assert decode_text(data) == (data.decode("cp1252"), True)
